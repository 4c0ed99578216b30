"""An installation with a folder and a database of its own, on the backend under test, and the commands that run in it."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg

from tests import databases
from tests.databases import TemporaryDatabase
from tests.server import ON_POSTGRES, ROOT


class Installation:
    """Usable in its `with` block. Its tables are today's, or none when `empty`; its code is this checkout unless given."""

    def __init__(self, folder: Path, *, empty: bool = False, code: Path = ROOT) -> None:
        self.folder, self.empty, self.code = folder, empty, code
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment |= {"DEBUG": "1", "VAR_DIR": str(folder)}
        self.temporary = TemporaryDatabase(empty=empty) if ON_POSTGRES else None

    @property
    def file(self) -> Path:
        """The database on SQLite."""
        return self.folder / "parley.sqlite3"

    def __enter__(self) -> "Installation":
        if self.temporary:
            self.environment["DATABASE_URL"] = self.temporary.__enter__()
        elif not self.empty:
            databases.copy_sqlite(self.folder)
        return self

    def __exit__(self, *error: object) -> None:
        if self.temporary:
            self.temporary.__exit__(*error)

    def run(self, *command: str, code: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=code or self.code,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def manage(self, *arguments: str, code: Path | None = None) -> "subprocess.CompletedProcess[str]":
        return self.run(sys.executable, "manage.py", *arguments, code=code)

    def execute(self, script: str) -> None:
        """Run statements of SQL, as they stand in a file."""
        if ON_POSTGRES:
            with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as opened:
                # Without parameters the server takes several statements at once.
                opened.execute(script.encode())
        else:
            with closing(sqlite3.connect(self.file)) as opened:
                opened.executescript(script)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        if ON_POSTGRES:
            with psycopg.connect(self.environment["DATABASE_URL"]) as opened:
                return opened.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self.file)) as opened:
            return opened.execute(query).fetchall()

    def content(self) -> object:
        """What a command that must change nothing leaves as it is."""
        if ON_POSTGRES:
            with psycopg.connect(self.environment["DATABASE_URL"]) as opened:
                relations = opened.execute("SELECT relname, relfilenode FROM pg_class ORDER BY oid").fetchall()
                return relations, opened.execute("SELECT * FROM django_migrations ORDER BY id").fetchall()
        with closing(sqlite3.connect(self.file)) as opened:
            return list(opened.iterdump())
