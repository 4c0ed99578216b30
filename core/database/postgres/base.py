"""Checks a kept connection before reuse without a query, prepares the statements of the hot paths, and lets a thread
have a connection outside of the pool (core.database).

Django's health check sends `SELECT 1` and waits for the answer once per request. A connection whose
server went away has something to read (the end, or an error), and an idle one does not. So it is enough to check
whether the socket is readable.
"""

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base, operations
from django.utils.asyncio import async_unsafe
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper

# The driver's own loader of times, written in C. Django's Python loader took a seventh of the time of a message page.
_TIMESTAMPTZ = psycopg.postgres.types["timestamptz"].oid
_time_loader = psycopg.adapters.get_loader(_TIMESTAMPTZ, Format.TEXT)


class PreparedCursor(base.ServerBindingCursor):
    # psycopg's type, which Django's stubs do not name.
    adapters: Any
    connection: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.adapters.register_loader(_TIMESTAMPTZ, _time_loader)

    def close(self) -> None:
        """Leaves the cursor to the connection's next statement: making one costs as much as a short statement."""
        self.connection.idle_cursor = self


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """The statement with its values, for logs and tests; the driver sends the values separately."""
        if isinstance(cursor, PreparedCursor):
            return str(self.compose_sql(sql, params))
        return str(super().last_executed_query(cursor, sql, params))


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    # Django has one wrapper for each thread.
    has_left_pool = False

    @property
    def pool(self) -> Any:
        return None if self.has_left_pool else super().pool

    @property
    def open_pool(self) -> Any:
        """The pool of this process, also for a thread that has left it; None before its first use or without one."""
        return self._connection_pools.get(self.alias)  # type: ignore[attr-defined]

    def leave_pool(self) -> None:
        if not self.has_left_pool:
            self.close()
            self.has_left_pool = True

    # No `SELECT 1`: docs/decisions/serving.md#0004
    def is_usable(self) -> bool:
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()

    @async_unsafe
    def create_cursor(self, name: str | None = None) -> Any:
        cursor: Any = super().create_cursor(name)
        cursor.adapters.register_loader(_TIMESTAMPTZ, _time_loader)
        return cursor

    @async_unsafe
    def prepared_cursor(self) -> Any:
        """A cursor that binds on the server, for core.database; counted and logged like any other."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            if self.connection.prepare_threshold is None:
                return self._cursor()  # type: ignore[attr-defined]
            # Removed while it is used, so that a nested statement gets a cursor of its own.
            idle = vars(self.connection).pop("idle_cursor", None)
            return self._prepare_cursor(idle or PreparedCursor(self.connection))  # type: ignore[attr-defined]

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        # psycopg's default is the smallest type that holds a number; then a statement would have a plan for each type.
        connection.adapters.register_dumper(int, Int8Dumper)
        return connection
