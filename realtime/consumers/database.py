"""Database work of sockets, on a few threads of their own.

Channels would run all of it on its single "sensitive" thread, so that sockets would wait for each other.
Each thread keeps its connection; a connection that was idle is tested before it is used.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from core.database import leave_pool
from realtime.conf import conf

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 1.0

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_kept: dict[int, BaseDatabaseWrapper] = {}
_thread = threading.local()


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a synchronous function on one of the sockets' threads, with the caller's context variables."""
    context = contextvars.copy_context()
    call = partial(context.run, _call, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_executor(), call)


def close_connections() -> None:
    """Ends the threads and their connections (a test database cannot be dropped under them)."""
    global _pool
    with _lock:
        pool, _pool = _pool, None
    if pool is not None:
        pool.shutdown(wait=True)
    while _kept:
        _kept.popitem()[1].close()


def _executor() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                _pool = ThreadPoolExecutor(conf.DATABASE_THREADS, thread_name_prefix="sockets")
    return _pool


def _call(function: Callable[[], Any]) -> Any:
    _prepare_connection()
    try:
        return function()
    except (OperationalError, InterfaceError):
        connection.close()
        raise
    finally:
        _thread.used_at = time.monotonic()


def _prepare_connection() -> None:
    used_at = getattr(_thread, "used_at", None)
    if used_at is None:
        leave_pool()
        own = connection._connections[connection._alias]  # type: ignore[attr-defined]
        # So that close_connections may close it from another thread.
        own.inc_thread_sharing()
        _kept[threading.get_ident()] = own
    elif connection.connection is not None and time.monotonic() - used_at > IDLE_SECONDS:
        connection.health_check_enabled = True  # type: ignore[attr-defined]
        if not connection.is_usable():
            connection.close()
