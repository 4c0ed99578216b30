"""The migrated SQLite database that `dev.py test PATH` copies instead of migrating an empty one."""

import hashlib
import sqlite3
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _digest() -> str:
    """Another one whenever a migration or a library changes."""
    files = [*sorted(ROOT.glob("*/migrations/*.py")), ROOT / "requirements.txt"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


TEMPLATE = ROOT / "var" / "tests" / f"migrated-{_digest()}.sqlite3"


def keep(database: str) -> None:
    """Keep a copy of this database, whole, for later runs."""
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    for old in TEMPLATE.parent.glob("migrated-*.sqlite3"):
        old.unlink()
    part = TEMPLATE.with_suffix(".part")
    with sqlite3.connect(database) as source, sqlite3.connect(part) as target:
        source.backup(target)
    source.close()
    target.close()
    part.replace(TEMPLATE)
