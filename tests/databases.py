"""Databases for servers of the tests: migrated once in a run of the tests, then copied."""

import atexit
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent


def of_postgres(name: str, scheme: str = "postgres") -> str:
    """The URL of a database on the PostgreSQL server that the tests use."""
    parts = urlsplit(os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/parley"))
    return urlunsplit(parts._replace(scheme=scheme, path=f"/{name}"))


def on_server(statement: str) -> None:
    with psycopg.connect(of_postgres("postgres", "postgresql"), autocommit=True) as connection:
        connection.execute(statement)


class TemporaryDatabase:
    """A PostgreSQL database that exists while the block runs; migrated, or without a table when `empty`."""

    def __init__(self, *, empty: bool = False) -> None:
        self.name = f"parley_flow_{secrets.token_hex(4)}"
        self.url = of_postgres(self.name)
        self.empty = empty

    def __enter__(self) -> str:
        on_server(f'CREATE DATABASE "{self.name}"' + ("" if self.empty else f' TEMPLATE "{_migrated_postgres()}"'))
        return self.url

    def __exit__(self, *_: object) -> None:
        on_server(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')


def copy_sqlite(folder: Path) -> None:
    """Put a migrated database into a folder that has none."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "parley.sqlite3").exists():
        shutil.copy(_migrated_sqlite(), folder)


@cache
def _migrated_sqlite() -> Path:
    folder = _scratch()
    _migrate(VAR_DIR=str(folder))
    return folder / "parley.sqlite3"


@cache
def _migrated_postgres() -> str:
    name = f"parley_template_{secrets.token_hex(4)}"
    on_server(f'CREATE DATABASE "{name}"')
    atexit.register(on_server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    _migrate(VAR_DIR=str(_scratch()), DATABASE_URL=of_postgres(name))
    return name


def _scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="parley-migrated-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _migrate(**environment: str) -> None:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=inherited | {"DEBUG": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
