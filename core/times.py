"""A time as the API writes it."""

from datetime import datetime


def json_time(value: datetime | str) -> str:
    """A time in UTC with `Z`. SQLite returns text to hand-written statements, PostgreSQL a datetime."""
    if isinstance(value, str):
        return value.replace(" ", "T") + "Z"
    return value.isoformat().removesuffix("+00:00") + "Z"
