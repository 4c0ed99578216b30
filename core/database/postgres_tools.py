"""PostgreSQL's own programs for backups, pg_dump and pg_restore, on the database of this service."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, cast

from django.core.management.base import CommandError
from django.db import connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

_NO_LIMITS = "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"


def server_version() -> str:
    """The version of the server, as "15.4"."""
    number: int = cast(Any, connection).pg_version
    return f"{number // 10_000}.{number % 10_000}"


def check(program: str) -> None:
    """CommandError when the program is not installed, or older than the server."""
    needed = cast(Any, connection).pg_version // 10_000
    if shutil.which(program) is None:
        raise CommandError(
            f"{program} is not installed. It comes with PostgreSQL's client, which must be version {needed} or newer: "
            f"apt-get install postgresql-client-{needed}"
        )
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+", told)
    if found is None or int(found[0]) < needed:
        raise CommandError(
            f"{program} is version {found[0] if found else 'unknown'}, older than the server's {needed}: "
            f"apt-get install postgresql-client-{needed}"
        )


def dump(path: Path, *, snapshot: str) -> None:
    """Writes the whole database into a file of pg_dump's own format. CommandError with the program's reason."""
    check("pg_dump")
    with _server() as (name, environment):
        _run(
            ["pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--file={path}", f"--dbname={name}"], environment
        )


def restore(path: Path, *, extensions: Collection[str]) -> None:
    """Restores a dump into an empty database, in one transaction, with these extensions alone. CommandError.

    Others that an administrator has installed would need an administrator to install them again.
    """
    check("pg_restore")
    listed = _run(["pg_restore", "--list", str(path)], dict(os.environ))
    entry = re.compile(r"^\d+; \d+ \d+ (?:COMMENT - )?EXTENSION (?:- )?(\S+)")
    kept = [line for line in listed.splitlines() if not (found := entry.match(line)) or found[1] in extensions]
    contents = path.with_name(f"{path.name}.list")
    contents.write_text("\n".join(kept), encoding="utf-8")
    options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-comments")
    with _server() as (name, environment):
        _run(["pg_restore", *options, f"--use-list={contents}", f"--dbname={name}", str(path)], environment)


@contextlib.contextmanager
def _server() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of the database and the environment, which holds the password: other users can read arguments."""
    # What the operator has set, and no default of the driver's library, which may be newer than the programs.
    known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    given = cast(Any, connection).get_connection_params()
    parameters = {name: value for name, value in given.items() if name in known}
    password = parameters.pop("password", "")
    parameters["options"] = f"{parameters.get('options', '')} {_NO_LIMITS}".strip()
    environment = os.environ | {"LC_ALL": "C"} | ({"PGPASSWORD": password} if password else {})
    yield make_conninfo(**parameters), environment


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error:" in line or "ERROR:" in line]
        reason = (lines or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0]
        raise CommandError(f"{command[0]} failed: {re.sub(r'^.*?error: ', '', reason)}")
    return done.stdout
