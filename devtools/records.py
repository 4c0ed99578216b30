"""The records of releases, `releases/<version>/`: migrations that never change again, and what a database then held.

`migrations.json` has the SHA-256 of each migration of the release by its path; `postgresql.sql.gz` and `sqlite.sql.gz`
are databases of it as plain SQL (tests/upgrades).
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from devtools.environment import ROOT, say

MIGRATIONS = "migrations.json"
Version = tuple[int, ...]


def number(version: str) -> Version:
    """`1.10.0` as (1, 10, 0), for comparison. ValueError for anything else."""
    parts = tuple(int(part) for part in version.split("."))
    if len(parts) != 3 or version != ".".join(map(str, parts)) or min(parts) < 0:
        raise ValueError(version)
    return parts


def released(root: Path = ROOT) -> list[str]:
    """The versions that have a record, the oldest first."""
    return sorted((path.parent.name for path in root.glob(f"releases/*/{MIGRATIONS}")), key=number)


def digests(root: Path = ROOT) -> dict[str, str]:
    """Path → SHA-256 of the migrations as they are now, whatever ends their lines."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        for path in sorted(root.glob("*/migrations/[0-9]*.py"))
    }


def write_migrations(version: str, root: Path = ROOT) -> None:
    folder = root / "releases" / version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MIGRATIONS).write_text(json.dumps(digests(root), indent=1) + "\n", encoding="utf-8")


def changed_migrations(root: Path = ROOT) -> list[str]:
    """A sentence for each released migration that is not as it was released, and for each that comes before one."""
    now = digests(root)
    problems = []
    frozen: dict[str, str] = {}
    for version in released(root):
        recorded = json.loads((root / "releases" / version / MIGRATIONS).read_text(encoding="utf-8"))
        for path, digest in recorded.items():
            if path not in now:
                problems.append(
                    f"{path} is missing: {version} has released it. Take it back; changes are new migrations."
                )
            elif now[path] != digest:
                problems.append(
                    f"{path} is edited: {version} has released it. Take it back; changes are new migrations."
                )
        frozen |= recorded
    for path in now.keys() - frozen.keys():
        folder = path.rpartition("/")[0]
        last = max((other for other in frozen if other.rpartition("/")[0] == folder), default="")
        if path < last:
            problems.append(f"{path} comes before {last}, which is released: give it the next number.")
    return sorted(set(problems))


if __name__ == "__main__":
    for problem in changed_migrations():
        say(problem)
    sys.exit(1 if changed_migrations() else 0)
