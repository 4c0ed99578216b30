"""Connections outside of the pool, and connections to a failed or read-only server."""

from typing import Any, cast

from django.core.management.base import CommandError
from django.db import connection

from core.database.statements import on_postgresql

# SQLSTATE of a write on a read-only server.
READ_ONLY = "25006"


def leave_pool() -> None:
    """Gives the calling thread a connection of its own, outside of the pool.

    The pool of a process serves its requests. A thread that lives as long as the process would keep one of the
    pool's connections for ever.
    """
    if on_postgresql():
        cast(Any, connection).leave_pool()


def behind_bouncer() -> bool:
    """Whether a PgBouncer stands between, so that nothing lasts in a session: this process is told so, or the server's
    process is another one than the connection was greeted with."""
    if not on_postgresql():
        return False
    if connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        process: int = cursor.fetchone()[0]
    return process != cast(Any, connection).connection.info.backend_pid


def refuse_bouncer(command: str) -> None:
    """CommandError behind PgBouncer, where neither settings nor locks of a session last."""
    if behind_bouncer():
        raise CommandError(
            f"PgBouncer stands between: run {command} with a DATABASE_URL that leads to PostgreSQL itself, "
            "without DATABASE_CONNECTIONS=bouncer."
        )


def is_read_only(error: BaseException) -> bool:
    """Whether the server refused a write because it is a standby, as after a fail-over."""
    return getattr(error.__cause__, "sqlstate", "") == READ_ONLY


def discard_connection() -> None:
    """Ends the thread's connection for good, so that the next request opens a new one to the primary."""
    driver_connection = cast(Any, connection).connection
    if driver_connection is not None and not connection.in_atomic_block:
        driver_connection.close()
        connection.close()
