"""Reads whose SQL Django compiles once."""

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Expression, QuerySet

from core.database.statements import as_parameter, rows

R = TypeVar("R")


class _Placeholder(Expression):
    """A `%s` that is filled with the n-th argument of the call."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class _Statement(NamedTuple):
    sql: str
    params: list[Any]
    converters: dict[int, tuple[list[Callable[..., Any]], Any]]
    # Builds from a row the object that the QuerySet would yield.
    build: Callable[[list[Any]], Any]


# Composing the SQL anew would cost more than the query: docs/decisions/database.md#0005
class compiled(Generic[R]):
    """Decorator: turns a function that returns a QuerySet into one that returns its rows.

    The ORM compiles the statement once per process. Use it for the reads of every request, which cost more to compile
    than to run.

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
    """Builds a model's object from a row, with the objects that select_related adds over required foreign keys."""
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
