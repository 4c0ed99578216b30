"""How a benchmark prints its rows when it runs by itself."""

import json
from collections.abc import Iterable, Mapping
from typing import Any


def show(rows: Iterable[Mapping[str, Any]], *, as_json: bool) -> None:
    """Prints rows of `work`, `measured` and `goal` as a table, or as JSON."""
    if as_json:
        print(json.dumps(list(rows), indent=2))
        return
    for row in rows:
        goal = "–" if row["goal"] is None else row["goal"]
        print(f"{row['work']:70}{row['measured']:8}{goal:>8}")
