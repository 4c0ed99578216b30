"""What only one process may do at a time (migrations, demo users): the others wait until it is done."""

import contextlib
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from django.core.files import locks
from django.db import DatabaseError, connection

from core.database import on_postgresql

# Separates these locks from other advisory locks of the database.
_NAMESPACE = 727_001
_POLL_SECONDS = 0.3


@contextlib.contextmanager
def exclusive(name: str, *, report_wait: Callable[[], object]) -> Iterator[None]:
    """Waits for the end of the same block in other processes; calls `report_wait` once if there is one.

    A process that dies releases its lock. Behind PgBouncer in transaction mode there is none, as nothing stays in a
    session there.
    """
    with _lock(name) as try_to_lock:
        if not try_to_lock():
            report_wait()
            # Asks again and again: a statement that waits would hold up an index that is built concurrently.
            while not try_to_lock():
                time.sleep(_POLL_SECONDS)
        yield


def keeps_sessions() -> bool:
    """Whether a session of PostgreSQL belongs to this process: not behind PgBouncer in transaction mode."""
    return on_postgresql() and not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS")


@contextlib.contextmanager
def without_time_limits() -> Iterator[None]:
    """Statements may take as long as they need; a lock is waited for no longer than usual, because users wait behind it."""
    if not keeps_sessions():
        yield
        return
    limits = ("statement_timeout", "idle_in_transaction_session_timeout")
    with connection.cursor() as cursor:
        for limit in limits:
            cursor.execute(f"SET {limit} = 0")
    try:
        yield
    finally:
        with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
            for limit in limits:
                cursor.execute(f"RESET {limit}")


@contextlib.contextmanager
def _lock(name: str) -> Iterator[Callable[[], bool]]:
    path = Path(f"{connection.settings_dict['NAME']}.{name}")
    if keeps_sessions():
        key = [_NAMESPACE, zlib.crc32(name.encode()) - 2**31]
        try:
            yield lambda: _selected("pg_try_advisory_lock", key)
        finally:
            with contextlib.suppress(DatabaseError):
                _selected("pg_advisory_unlock", key)
    elif on_postgresql() or cast(Any, connection).is_in_memory_db() or not path.parent.is_dir():
        yield lambda: True
    else:
        with path.open("a") as file:
            yield lambda: locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)


def _selected(function: str, key: list[int]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", key)
        return bool(cursor.fetchone()[0])
