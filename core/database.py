"""Database helpers: for hand-written statements, for long lists of numbers, for deletion in batches, for long-lived threads.

On PostgreSQL the engine is `core.postgres`, which offers prepared statements and the pool; on SQLite neither is needed.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import BigAutoField, BigIntegerField, Expression, Lookup, Model, QuerySet

# SQLSTATE of a write on a server that only reads.
READ_ONLY = "25006"


def _on_postgres() -> bool:
    return connection.vendor == "postgresql"


def prepared() -> AbstractContextManager[Any]:
    """A cursor whose statements stay prepared on their connection; on SQLite an ordinary one.

    Planning a statement with a few joins takes PostgreSQL longer than running it. What must be planned for its
    values (text search) uses an ordinary cursor. Values are bound by the server, so a statement may have to name
    the type of a bare parameter.
    """
    if _on_postgres():
        return cast(AbstractContextManager[Any], cast(Any, connection).prepared_cursor())
    return connection.cursor()


def rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement that stays prepared."""
    with prepared() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def batches_to_delete(rows: QuerySet[Any, Any], batch: int) -> Iterator[list[int]]:
    """The ids of these rows in batches, lowest first, for a caller that deletes each batch before it takes the next.

    Each search begins where the last one ended: an index names deleted rows until it is vacuumed, so a search from the
    beginning would take longer with every batch.
    """
    last = 0
    while ids := list(rows.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:batch]):
        yield ids
        last = ids[-1]


def delete_in_batches(expired: QuerySet[Any, Any], batch: int) -> Iterator[int]:
    """Deletes the rows of a query, lowest ids first; gives the number of each batch."""
    model: type[Model] = expired.model
    for ids in batches_to_delete(expired, batch):
        _all, by_model = model._default_manager.filter(id__in=ids).delete()
        yield by_model.get(model._meta.label, 0)


def rows_unprepared(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """As `rows`, for a statement whose best plan depends on its parameters."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def row(sql: str, params: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared; None without one."""
    with prepared() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()


def placeholders(values: Collection[Any]) -> str:
    """`%s, %s, …`: one for each value."""
    return ", ".join(["%s"] * len(values))


def leave_pool() -> None:
    """Gives the calling thread a connection of its own, outside of the pool.

    The pool of a process serves its requests. A thread that lives as long as the process would keep one of the
    pool's connections for ever.
    """
    if _on_postgres():
        cast(Any, connection).leave_pool()


def is_read_only(error: BaseException) -> bool:
    """Whether the server refused a write because it is a standby, as after a fail-over."""
    return getattr(error.__cause__, "sqlstate", "") == READ_ONLY


def discard_connection() -> None:
    """Ends the thread's connection for good, so that the next request opens a new one to the primary."""
    driver_connection = cast(Any, connection).connection
    if driver_connection is not None and not connection.in_atomic_block:
        driver_connection.close()
        connection.close()


def as_parameter(value: Any) -> Any:
    """A value as a parameter of a hand-written statement: SQLite has no type for times and UUIDs, and neither
    database has one for a set of ids."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, set | frozenset | list):
        # As text: the driver would turn number after number into bytes.
        ids = ",".join(map(str, value))
        return f"{{{ids}}}" if _on_postgres() else f"[{ids}]"
    return value


def moment(stored: datetime | str) -> datetime:
    """A time that a hand-written statement has read: PostgreSQL returns a datetime, SQLite text or a naive datetime in
    UTC."""
    read = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


@BigAutoField.register_lookup
@BigIntegerField.register_lookup
class AnyOf(Lookup):
    """`id__any={…}`: like `__in`, for any number of whole numbers as one parameter.

    `__in` names every value in the statement, which then takes the driver and PostgreSQL longer than the rows
    themselves, and is another statement for each number of values.
    """

    lookup_name = "any"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if not self.rhs:
            raise EmptyResultSet
        lhs, params = self.process_lhs(compiler, connection)
        ids = self.rhs if isinstance(self.rhs, Expression) else as_parameter(self.rhs)
        is_one = "= ANY(%s::bigint[])" if connection.vendor == "postgresql" else "IN (SELECT value FROM json_each(%s))"
        return f"{lhs} {is_one}", (*params, ids)
