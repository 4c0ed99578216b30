"""Database helpers: for hand-written statements, for reads that are compiled once, for long lists of numbers, for deletion in
batches, for long-lived threads.

On PostgreSQL the engine is `core.postgres`, which offers prepared statements and the pool; on SQLite neither is needed.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.models import BigAutoField, BigIntegerField, Expression, Lookup, Model, QuerySet

from core.transactions import lock_in_order

# SQLSTATE of a write on a server that only reads.
READ_ONLY = "25006"


@cache
def on_postgresql() -> bool:
    """Whether the database is PostgreSQL, else SQLite. Cached: reading Django's `connection` takes some microseconds."""
    return connection.vendor == "postgresql"


def prepared() -> AbstractContextManager[Any]:
    """A cursor whose statements stay prepared on their connection; on SQLite an ordinary one.

    Planning a statement with a few joins takes PostgreSQL longer than running it, so it is planned once for all values.
    What must be planned for its values (text search) or for the current size of a table (claims of a queue) uses an
    ordinary cursor. Write a limit as a literal: a plan for any limit expects many rows. Values are bound by the server,
    so a statement may have to name the type of a bare parameter.
    """
    if on_postgresql():
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


# For each kind of row an iterator that deletes a batch of them at a time, in short transactions, and gives how many, until
# none is left.
DeletionJobs = dict[str, Iterator[int]]


def run_first_batches(jobs: DeletionJobs, rows: int = 1) -> dict[str, int]:
    """Runs the batches of each job until they have deleted that many rows; returns the number of rows of each kind."""
    deleted = dict.fromkeys(jobs, 0)
    for kind, job in jobs.items():
        for count in job:
            deleted[kind] += count
            if deleted[kind] >= rows:
                break
    return deleted


def delete_in_batches(expired: QuerySet[Any, Any], batch: int) -> Iterator[int]:
    """Deletes the rows of a query, lowest ids first; gives the number of each batch."""
    model: type[Model] = expired.model
    for ids in batches_to_delete(expired, batch):
        with transaction.atomic():
            # Those that still match: a row, such as that of a code, may be in use again by now.
            old = lock_in_order(expired.filter(id__in=ids), no_key=False)
            _all, by_model = model._default_manager.filter(id__in=old).delete()
        yield by_model.get(model._meta.label, 0)


def rows_unprepared(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """As `rows`, for a statement whose best plan depends on its parameters."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def row(sql: str, params: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared; None without one."""
    return next(iter(rows(sql, params)), None)


def is_any(column: str) -> str:
    """`column` is one of many whole numbers: the SQL, whose one parameter is `as_parameter` of a set or list of them.

    A list of placeholders takes the driver and PostgreSQL longer than the rows themselves, and is another statement for
    each number of values.
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
    """Makes an object that a hand-written statement has inserted like one that was saved."""
    new.pk = number
    new._state.adding = False
    new._state.db = DEFAULT_DB_ALIAS


@cache
def _columns(model: type[Model]) -> list[Any]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


def leave_pool() -> None:
    """Gives the calling thread a connection of its own, outside of the pool.

    The pool of a process serves its requests. A thread that lives as long as the process would keep one of the
    pool's connections for ever.
    """
    if on_postgresql():
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
    if isinstance(value, set | frozenset | list):
        # As text: the driver would turn number after number into bytes.
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


R = TypeVar("R")


class _Placeholder(Expression):
    """Stands for the value at a position among those of a use."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class _Statement(NamedTuple):
    sql: str
    params: list[Any]
    converters: dict[int, tuple[list[Callable[..., Any]], Any]]
    # Makes of a row what the QuerySet yields.
    build: Callable[[list[Any]], Any]


class compiled(Generic[R]):
    """Makes of a function that returns a QuerySet one that returns its rows, compiled by the ORM once per process: for the
    reads of every request, which cost more to compile than to run.

        @compiled
        def _with_email(email: str) -> QuerySet[User]:
            return User.objects.filter(email=email)

        user = _with_email.first("ann@example.com")

    The function is called once, with a placeholder for each value, so it must hand its values to the ORM as they are. The
    statement stays prepared on its connection.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, R]]) -> None:
        self._make = make

    def __call__(self, *values: Any) -> list[R]:
        sql, params, converters, build = self._statement
        bound = [as_parameter(values[param.position]) if isinstance(param, _Placeholder) else param for param in params]
        return [build(_converted(row, converters)) for row in rows(sql, bound)]

    def first(self, *values: Any) -> R | None:
        """The first row; None without one."""
        return next(iter(self(*values)), None)

    @cached_property
    def _statement(self) -> _Statement:
        count = len(inspect.signature(self._make).parameters)
        queryset: Any = self._make(*map(_Placeholder, range(count)))
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        yields_objects = queryset._fields is None  # otherwise values_list
        build = _builder(compiler.klass_info, compiler.select) if yields_objects else tuple
        return _Statement(sql, list(params), converters, build)


def _builder(info: dict[str, Any], select: list[Any]) -> Callable[[list[Any]], Any]:
    """Builds a model's object from a row, with those that select_related adds over required foreign keys."""
    model, first, end = info["model"], info["select_fields"][0], info["select_fields"][-1] + 1
    fields = [column[0].target.attname for column in select[first:end]]
    related = [(inner["local_setter"], _builder(inner, select)) for inner in info.get("related_klass_infos", [])]

    def build(row: list[Any]) -> Any:
        built = model.from_db(DEFAULT_DB_ALIAS, fields, row[first:end])
        for attach, build_related in related:
            attach(built, build_related(row))
        return built

    return build


def _converted(row: tuple[Any, ...], converters: dict[int, tuple[list[Callable[..., Any]], Any]]) -> list[Any]:
    values = list(row)
    for position, (convert_all, expression) in converters.items():
        for convert in convert_all:
            values[position] = convert(values[position], expression, connection)
    return values
