"""How a benchmark prints its rows when it runs by itself."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

# `work`, `measured` and `goal`; `at_least` when the goal is a least value and not a most; and details.
Row = Mapping[str, Any]


def show(rows: Iterable[Row], *, as_json: bool) -> None:
    """Prints rows as a table, or as JSON."""
    if as_json:
        print(json.dumps(list(rows), indent=2))
        return
    for row in rows:
        goal = "–" if row["goal"] is None else row["goal"]
        print(f"{row['work']:70}{row['measured']:8}{goal:>8}")
