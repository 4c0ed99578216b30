"""The records of releases as tests read them."""

import gzip
import json
from typing import Any

from devtools.records import released
from tests.installation import Installation
from tests.server import ON_POSTGRES, ROOT

KIND = "postgresql" if ON_POSTGRES else "sqlite"
VERSIONS = released()


def load(installation: Installation, version: str) -> None:
    """Put the recorded database into an installation that is empty: plain SQL, without pg_dump and psql."""
    installation.execute(gzip.decompress((ROOT / "releases" / version / f"{KIND}.sql.gz").read_bytes()).decode())


def replies(version: str) -> dict[str, Any]:
    """What Alice read when the record was made, by path."""
    read: dict[str, Any] = json.loads((ROOT / "releases" / version / f"{KIND}.json").read_text(encoding="utf-8"))
    return read
