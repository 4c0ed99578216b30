"""Rate counters in the database, used while the cache is unavailable."""

from datetime import UTC, datetime

from django.db import connection
from django.utils import timezone

from accounts.models import RateCount
from core.database import as_parameter


def count(*, key: str, seconds: int) -> tuple[int, int]:
    """Counts one use in the current window. Returns the count and the seconds left in the window."""
    now = int(timezone.now().timestamp())
    elapsed = now % seconds
    starts_at = datetime.fromtimestamp(now - elapsed, tz=UTC)
    table = connection.ops.quote_name(RateCount._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (key, window_starts_at, count) VALUES (%s, %s, 1) "
            f"ON CONFLICT (key, window_starts_at) DO UPDATE SET count = {table}.count + 1 RETURNING count",
            [key, as_parameter(starts_at)],
        )
        counted: int = cursor.fetchone()[0]
    return counted, seconds - elapsed
