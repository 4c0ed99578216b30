"""`dev.py release X.Y.Z`: writes the version and everything that repeats it, the record of the release, commit and tag."""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
from pathlib import Path

from devtools import change_log, javascript, records
from devtools.checks import OPENAPI_OPTIONS, failed_checks
from devtools.environment import PYTHON, ROOT, Problem, report, setup
from devtools.testing import missing_services

VERSION_FILE = ROOT / "core" / "version.py"
CHANGES = ROOT / "CHANGELOG.md"
# File → the pattern of its line with the version.
LINES = {
    VERSION_FILE: r'^VERSION = "(.*)"$',
    ROOT / "deploy" / "Containerfile": r'^LABEL org\.opencontainers\.image\.version="(.*)"$',
}


def release(options: argparse.Namespace) -> int:
    """Make a release on the current branch. On a failure the files are as they were."""
    version: str = options.version
    setup(dev=True)
    refuse(version)
    text = change_log.released(CHANGES.read_text(encoding="utf-8"), version, datetime.date.today().isoformat())
    try:
        CHANGES.write_text(text, encoding="utf-8")
        for path, pattern in LINES.items():
            write_version(path, pattern, version)
        records.write_migrations(version)
        failed = [name for name, command in steps(version) if failed_checks([(name, command)])]
        if failed:
            raise Problem(f"Failed: {', '.join(failed)}. Nothing is released; the lines above say why.")
        git("add", "--all")
        git("commit", "--quiet", "--message", f"Release {version}")
    except BaseException:
        git("reset", "--quiet", "--hard")
        shutil.rmtree(ROOT / "releases" / version, ignore_errors=True)
        raise
    git("tag", "--annotate", "--message", f"Parley {version}", f"v{version}")
    report(f"Released {version}. Next: git push --follow-tags")
    return 0


def refuse(version: str) -> None:
    """Problem when a release of this version cannot be made here."""
    try:
        new = records.number(version)
    except ValueError:
        raise Problem(f"{version} is not a version: it must be three numbers, such as 1.2.0.") from None
    if git("status", "--porcelain"):
        raise Problem("The tree is not clean: commit or put away what `git status` names.")
    if git("tag", "--list", f"v{version}"):
        raise Problem(f"The tag v{version} exists.")
    last = records.released()
    if last and new <= records.number(last[-1]):
        raise Problem(f"{version} does not come after {last[-1]}, the last release.")
    if changed := records.changed_migrations():
        raise Problem("\n".join(changed))
    if failed_checks([("migrations", [str(PYTHON), "manage.py", "makemigrations", "--check", "--dry-run"])]):
        raise Problem("A migration is missing: manage.py makemigrations")
    if missing := missing_services():
        raise Problem(f"The record of a release needs a database of each kind: {missing}.")
    if not shutil.which("pg_dump"):
        raise Problem("The record of a release needs pg_dump (apt-get install postgresql-client).")
    if why := javascript.missing():
        raise Problem(f"A release holds the web client in few files: {why}.")


def steps(version: str) -> list[tuple[str, list[str]]]:
    """What writes the generated files, the record last."""
    python = str(PYTHON)
    return [
        ("OpenAPI", [python, "manage.py", "spectacular", *OPENAPI_OPTIONS, "--file", "docs/openapi.json"]),
        ("SDK", [python, "manage.py", "write_sdk"]),
        javascript.bundle(),
        ("record", [python, "-m", "tests.upgrades.record", version]),
    ]


def write_version(path: Path, pattern: str, version: str) -> None:
    """Put the version into the one line of a file that matches; Problem when there is not one."""
    text = path.read_text(encoding="utf-8")
    lines = list(re.finditer(pattern, text, re.MULTILINE))
    if len(lines) != 1:
        raise Problem(f"{path.relative_to(ROOT)} has {len(lines)} lines with the version; it needs one.")
    (line,) = lines
    path.write_text(text[: line.start(1)] + version + text[line.end(1) :], encoding="utf-8")


def git(*arguments: str) -> str:
    """Run git in the checkout and return its output. Problem when it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Problem(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
