"""Makes and prepares the database of a benchmark run."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from psycopg import conninfo, sql

DATABASE_URL = os.environ.get("BENCH_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/parley_bench")


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a database that exists while the block runs."""
    name = f"parley_bench_{secrets.token_hex(4)}"
    with psycopg.connect(conninfo.make_conninfo(DATABASE_URL, dbname="postgres"), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{DATABASE_URL.rsplit('/', 1)[0]}/{name}"
        finally:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def settle() -> None:
    """VACUUM ANALYZE, as autovacuum does within a minute: fresh statistics, and no dead rows."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
