"""Two people and a block between them: telling one of the other, or parting them, never both at once.

Without this an occurrence that was checked just before the block could be written just after it. SQLite has
one writer at a time and needs nothing.
"""

import zlib

from django.db import connection

# Ours among the advisory locks of the database.
_NAMESPACE = 0x70617273


def tell(a_id: int, b_id: int) -> None:
    """Until the transaction ends nobody parts the two; telling goes on beside other telling."""
    _lock("pg_advisory_xact_lock_shared", a_id, b_id)


def part(a_id: int, b_id: int) -> None:
    """Waits for what is being told between the two; whoever tells after this sees the block."""
    _lock("pg_advisory_xact_lock", a_id, b_id)


def _lock(function: str, a_id: int, b_id: int) -> None:
    if connection.vendor != "postgresql":
        return
    low, high = sorted((a_id, b_id))
    pair = zlib.crc32(f"{low}:{high}".encode()) - 2**31
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_NAMESPACE, pair])
