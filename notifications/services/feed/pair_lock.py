"""A lock for two users, so that a notification between them and a block never run concurrently.

Without this an occurrence that was checked just before the block could be written just after it. SQLite has
one writer at a time and needs nothing.
"""

import zlib

from django.db import connection

# Ours among the advisory locks of the database.
_NAMESPACE = 0x70617273


def lock_shared(a_id: int, b_id: int) -> None:
    """For a notification: until the transaction ends no block can start; other notifications can."""
    _lock("pg_advisory_xact_lock_shared", a_id, b_id)


def lock_exclusive(a_id: int, b_id: int) -> None:
    """For a block: waits for running notifications between the two; later ones see the block."""
    _lock("pg_advisory_xact_lock", a_id, b_id)


def _lock(function: str, a_id: int, b_id: int) -> None:
    if connection.vendor != "postgresql":
        return
    low, high = sorted((a_id, b_id))
    pair = zlib.crc32(f"{low}:{high}".encode()) - 2**31
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_NAMESPACE, pair])
