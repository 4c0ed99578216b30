"""Work that only one process may do at a time (migrations, demo users), while others wait for it."""

import contextlib
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from django.core.files import locks
from django.db import DatabaseError, connection

from core.database.statements import on_postgresql

# Separates these locks from other advisory locks of the database.
_NAMESPACE = 727_001
_POLL_SECONDS = 0.3

# Requests that queue behind a migration give up after 3.5 seconds.
LOCK_TIMEOUT = "1s"

# The session of a thread, and the locks that it holds.
_own = threading.local()


# Asks again and again, because a waiting statement would hold up CREATE INDEX CONCURRENTLY: docs/decisions/database.md#0082
@contextlib.contextmanager
def exclusive(name: str, *, report_wait: Callable[[], object]) -> Iterator[None]:
    """Context manager: waits while another process is in the same block; calls `report_wait` once if it has to wait.

    A process that dies releases its lock. Behind PgBouncer in transaction mode there is no lock, because sessions do not
    last there.
    """
    with _lock(name) as try_to_lock:
        if not try_to_lock():
            report_wait()
            while not try_to_lock():
                time.sleep(_POLL_SECONDS)
        yield


def keeps_sessions() -> bool:
    """Whether this process keeps its PostgreSQL session. It does not behind PgBouncer in transaction mode."""
    return on_postgresql() and not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS")


def holds_session_lock(name: str, *, taken: Callable[[], object]) -> bool:
    """Whether this thread's connection has the lock of that name, which it takes if it is free; it has it until its end.
    `taken` is called whenever a connection takes it.

    True where there is one process (SQLite), and where sessions cannot hold a lock (PgBouncer in transaction mode).
    """
    if not keeps_sessions():
        return True
    connection.ensure_connection()
    if getattr(_own, "session", None) is not connection.connection:
        _own.session, _own.locks = connection.connection, set()
    if name not in _own.locks and _selected("pg_try_advisory_lock", [_NAMESPACE, zlib.crc32(name.encode()) - 2**31]):
        taken()
        _own.locks.add(name)
    return name in _own.locks


@contextlib.contextmanager
def without_time_limits() -> Iterator[None]:
    """Lifts the time limit of statements. Waiting for a lock is limited to LOCK_TIMEOUT, because users wait behind it."""
    if not keeps_sessions():
        yield
        return
    limits = ("statement_timeout", "idle_in_transaction_session_timeout")
    with connection.cursor() as cursor:
        for limit in limits:
            cursor.execute(f"SET {limit} = 0")
        cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
    try:
        yield
    finally:
        with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
            for limit in (*limits, "lock_timeout"):
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
