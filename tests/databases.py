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
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent


def of_postgres(name: str, scheme: str = "postgres") -> str:
    """The URL of a database on the PostgreSQL server that the tests use."""
    parts = urlsplit(os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/parley"))
    return urlunsplit(parts._replace(scheme=scheme, path=f"/{name}"))


def under_test() -> str:
    """The URL of the database that this test uses, for processes beside it."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    return (
        f"postgres://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    )


def on_server(statement: str) -> None:
    with psycopg.connect(of_postgres("postgres", "postgresql"), autocommit=True) as connection:
        connection.execute(statement)


class TemporaryDatabase:
    """A PostgreSQL database that exists while the block runs; migrated, without a table when `empty`, or a copy of
    `template`, to which no one is connected."""

    def __init__(self, *, empty: bool = False, template: str = "") -> None:
        self.name = f"parley_flow_{secrets.token_hex(4)}"
        self.url = of_postgres(self.name)
        self.empty, self.template = empty, template

    def __enter__(self) -> str:
        source = "" if self.empty else f' TEMPLATE "{self.template or _migrated_postgres()}"'
        on_server(f'CREATE DATABASE "{self.name}"{source}')
        return self.url

    def __exit__(self, *_: object) -> None:
        on_server(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')


class Backup:
    """The database of a server (RunningServer) that is stopped, as it is now; `restore` puts it back, any number of times."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._url = environment.get("DATABASE_URL")
        self._file = Path(environment["VAR_DIR"]) / "parley.sqlite3"
        self._name = urlsplit(self._url).path[1:] if self._url else ""
        self._copy = f"{self._name}_backup" if self._url else str(self._file.with_suffix(".backup"))
        if self._url:
            self._copy_postgres(self._name, self._copy)
        else:
            shutil.copy(self._file, self._copy)

    def restore(self) -> None:
        if self._url:
            self._copy_postgres(self._copy, self._name)
            return
        for end in ("-wal", "-shm"):
            self._file.with_name(self._file.name + end).unlink(missing_ok=True)
        shutil.copy(self._copy, self._file)

    def remove(self) -> None:
        if self._url:
            on_server(f'DROP DATABASE IF EXISTS "{self._copy}" WITH (FORCE)')
        else:
            Path(self._copy).unlink(missing_ok=True)

    @staticmethod
    def _copy_postgres(of: str, name: str) -> None:
        on_server(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        on_server(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{of}'")
        on_server(f'CREATE DATABASE "{name}" TEMPLATE "{of}"')


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
