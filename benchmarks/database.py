"""Makes and prepares the database of a benchmark run."""

import os
import resource
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
import psycopg
from django.conf import settings
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


# --- In the process of the benchmark itself -----------------------------------------------------------------------


def set_up() -> None:
    """Sets Django up on the server that DATABASE_URL names; without it on SQLite, in a folder of its own. Called before
    the modules of the product are imported."""
    folder = tempfile.mkdtemp(prefix="parley-benchmark-")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/parley.sqlite3")
    os.environ |= {"VAR_DIR": folder, "DEBUG": "1"}
    django.setup()


@contextmanager
def scratch_database() -> Iterator[None]:
    """An empty database beside the configured one while the block runs. Removes the folder of `set_up`."""
    folder = os.environ["VAR_DIR"]
    # With DEBUG Django keeps every statement.
    settings.DEBUG = False
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = f"{folder}/benchmark.sqlite3"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(settings.DATABASES["default"]["NAME"], verbosity=0)
        shutil.rmtree(folder, ignore_errors=True)


def cpu_seconds_of_connections() -> float:
    """CPU of PostgreSQL's processes that serve the scratch database; 0 on SQLite, which runs in the process itself."""
    if connection.vendor != "postgresql":
        return 0.0
    from benchmarks.servers import database_cpu_seconds

    return database_cpu_seconds(f"{os.environ['DATABASE_URL'].rsplit('/', 1)[0]}/{connection.settings_dict['NAME']}")


def cpu_of_children() -> float:
    """CPU seconds of the processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- Many rows ----------------------------------------------------------------------------------------------------

# Messages of a conversation and a sender. Every second text is common, one in a hundred thousand is rare; the rest is
# noise for the index.
FILL = """
INSERT INTO messaging_message (conversation_id, sender_id, kind, body, body_folded, call_media, call_outcome,
                               request_digest, counts_as_unread, created_at)
SELECT %s, %s, 'text', t, t, '', '', '', true, now() FROM generate_series(1, %s) n,
LATERAL (SELECT md5(n::text) || CASE WHEN n %% 100000 = 7 THEN ' needle' WHEN n %% 2 = 0 THEN ' common' ELSE '' END
         AS t) texts
"""


@contextmanager
def without_text_index(cursor: Any) -> Iterator[None]:
    """Builds the text index once after the block, instead of entry by entry in it."""
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'messaging_message' AND indexdef ~ 'USING gin'"
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, definition in indexes:
        cursor.execute(definition)
