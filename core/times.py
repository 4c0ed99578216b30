"""Times as the API writes them."""

from datetime import UTC, datetime

# SQLite stores "2026-11-01 10:00:00.123456".
_STORED_TIME_LENGTH = 26


def json_time(value: datetime | str) -> str:
    """A time as the API writes it: UTC, always with microseconds, `2026-11-01T10:00:00.000000Z`.

    A hand-written statement returns a datetime on PostgreSQL; on SQLite it returns text, which has no fraction on a
    whole second. A time without a zone is in UTC.
    """
    if isinstance(value, str):
        if len(value) == _STORED_TIME_LENGTH:
            return f"{value[:10]}T{value[11:]}Z"
        value = datetime.fromisoformat(value)
    text = value.isoformat(timespec="microseconds")
    if value.tzinfo is None:
        return f"{text}Z"
    if text.endswith("+00:00"):
        return f"{text[:-6]}Z"
    return json_time(value.astimezone(UTC))
