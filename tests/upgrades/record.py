"""Makes the databases of a release's record: `python -m tests.upgrades.record VERSION`, for `dev.py release`.

Needs the PostgreSQL server of the tests, and pg_dump. Loading a record needs neither pg_dump nor psql.
"""

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.databases import ROOT, TemporaryDatabase

KINDS = ("postgresql", "sqlite")
# What a server of another version may not know, and commands of psql.
LEFT_OUT = re.compile(r"^(\\.*|SET transaction_timeout.*)\n", re.MULTILINE)


def write(folder: Path, kind: str) -> None:
    """Migrate an empty database of that kind, fill it, and write it and what the API says of it."""
    with tempfile.TemporaryDirectory() as scratch, TemporaryDatabase(empty=True) as url:
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environment |= {"DEBUG": "1", "VAR_DIR": scratch} | ({"DATABASE_URL": url} if kind == "postgresql" else {})
        for command in (
            ["manage.py", "migrate", "--verbosity", "0"],
            ["-m", "tests.upgrades.rows", str(folder / f"{kind}.json")],
        ):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True)
        text = dump_of_postgresql(url) if kind == "postgresql" else dump_of_sqlite(Path(scratch) / "parley.sqlite3")
    # Without a time in it, so that the same text is the same file.
    (folder / f"{kind}.sql.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def dump_of_postgresql(url: str) -> str:
    program = shutil.which("pg_dump")
    assert program, "no pg_dump"
    options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments"]
    dumped = subprocess.run([program, *options, url], capture_output=True, text=True, check=True)
    return LEFT_OUT.sub("", dumped.stdout)


def dump_of_sqlite(file: Path) -> str:
    with closing(sqlite3.connect(file)) as opened:
        return "\n".join(opened.iterdump()) + "\n"


def main() -> None:
    folder = ROOT / "releases" / sys.argv[1]
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        write(folder, kind)


if __name__ == "__main__":
    main()
