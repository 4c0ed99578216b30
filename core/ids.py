"""Ids in paths and queries."""

import re

MAX_ID = 2**63 - 1


_ID = re.compile(r"[1-9][0-9]{0,18}")


def parse_id(value: object) -> int | None:
    """The id in a path or query (`"42"`), or None for anything that cannot be one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 1 <= value <= MAX_ID else None
    if isinstance(value, str) and _ID.fullmatch(value):
        return parse_id(int(value))
    return None
