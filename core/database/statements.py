"""Hand-written statements for both databases: rows, inserts, parameters and values."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BigAutoField, BigIntegerField, Expression, Lookup, Model


@cache
def on_postgresql() -> bool:
    """Whether the database is PostgreSQL, else SQLite. Cached: reading Django's `connection` takes some microseconds."""
    return connection.vendor == "postgresql"


def prepared() -> AbstractContextManager[Any]:
    """A cursor whose statements stay prepared on their connection; on SQLite an ordinary one.

    Planning a statement with a few joins takes PostgreSQL longer than running it, so it is planned once for all values.
    Use an ordinary cursor for a statement that must be planned for its values (text search) or for the current size of
    a table (claims of a queue). Write a limit as a literal: a plan for any limit expects many rows. Values are bound by
    the server, so a statement may have to name the type of a bare parameter.
    """
    if on_postgresql():
        return cast(AbstractContextManager[Any], cast(Any, connection).prepared_cursor())
    return connection.cursor()


def rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement that stays prepared."""
    with prepared() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def rows_unprepared(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """As `rows`, for a statement whose best plan depends on its parameters."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def row(sql: str, params: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared; None without one."""
    return next(iter(rows(sql, params)), None)


def is_any(column: str) -> str:
    """SQL for "`column` is one of these integers". Its only parameter is `as_parameter` of a set or list of them.

    A list of placeholders takes the driver and PostgreSQL longer than the rows themselves, and each number of values
    would be another statement.
    """
    return f"{column} = ANY(%s::bigint[])" if on_postgresql() else f"{column} IN (SELECT value FROM json_each(%s))"


def placeholders(values: Collection[Any]) -> str:
    """`%s, %s, …`: one for each value."""
    return ", ".join(["%s"] * len(values))


@cache
def insert_into(model: type[Model]) -> str:
    """`INSERT INTO … (…) VALUES (…)` of all columns but the id; its parameters are `column_values`."""
    columns = [str(field.column) for field in _columns(model)]
    return f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) VALUES ({placeholders(columns)})"


def column_values(new: Model) -> list[Any]:
    """The values of a new row for `insert_into`, in the order of its columns."""
    return [as_parameter(getattr(new, field.attname)) for field in _columns(type(new))]


M = TypeVar("M", bound=Model)


def insert(new: M) -> M:
    """Stores a new row and sets its id, by a statement that stays prepared. The ORM compiles each insert again, which takes
    longer than the insert."""
    [(number,)] = rows(f"{insert_into(type(new))} RETURNING id", column_values(new))
    set_id(new, number)
    return new


def set_id(new: Model, number: int) -> None:
    """Marks an object as saved after a hand-written statement has inserted it."""
    new.pk = number
    new._state.adding = False
    new._state.db = DEFAULT_DB_ALIAS


@cache
def _columns(model: type[Model]) -> list[Any]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


def as_parameter(value: Any) -> Any:
    """A value as a parameter of a hand-written statement: SQLite has no type for times and UUIDs, and neither
    database has one for a set of ids."""
    if isinstance(value, set | frozenset | list):
        # As text: the driver would convert each number on its own.
        ids = ",".join(map(str, value))
        return f"{{{ids}}}" if on_postgresql() else f"[{ids}]"
    if on_postgresql():
        return value
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value.hex if isinstance(value, UUID) else value


def moment(stored: datetime | str) -> datetime:
    """A time that a hand-written statement has read: PostgreSQL returns a datetime, SQLite text or a naive datetime in
    UTC."""
    read = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


@BigAutoField.register_lookup
@BigIntegerField.register_lookup
class AnyOf(Lookup):
    """`id__any={…}`: like `__in`, for any number of whole numbers as one parameter (`is_any`)."""

    lookup_name = "any"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if not self.rhs:
            raise EmptyResultSet
        lhs, params = self.process_lhs(compiler, connection)
        ids = self.rhs if isinstance(self.rhs, Expression) else as_parameter(self.rhs)
        return is_any(lhs), (*params, ids)
