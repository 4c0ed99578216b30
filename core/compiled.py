"""Reads that the ORM compiles once per process: those of every request, which cost more to compile than to run.

    @compiled
    def _with_email(email: str) -> QuerySet[User]:
        return User.objects.filter(email=email)

    user = _with_email.first("ann@example.com")

The function is called once, with a placeholder for each value, so it must hand its values to the ORM as they are. The
statement stays prepared on its connection (`core.database`).
"""

import inspect
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Expression, QuerySet

from core.database import as_parameter, rows

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
    """Makes of a function that returns a QuerySet one that returns its rows."""

    def __init__(self, make: Callable[..., QuerySet[Any, R]]) -> None:
        self._make = make
        self._statements: dict[str, _Statement] = {}

    def __call__(self, *values: Any) -> list[R]:
        sql, params, converters, build = self._statements.get(connection.vendor) or self._compile()
        bound = [as_parameter(values[param.position]) if isinstance(param, _Placeholder) else param for param in params]
        return [build(_converted(row, converters)) for row in rows(sql, bound)]

    def first(self, *values: Any) -> R | None:
        """The first row; None without one."""
        return next(iter(self(*values)), None)

    def _compile(self) -> _Statement:
        count = len(inspect.signature(self._make).parameters)
        queryset: Any = self._make(*map(_Placeholder, range(count)))
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        yields_objects = queryset._fields is None  # otherwise values_list
        build = _builder(compiler.klass_info, compiler.select) if yields_objects else tuple
        statement = self._statements[connection.vendor] = _Statement(sql, list(params), converters, build)
        return statement


def _builder(info: dict[str, Any], select: list[Any]) -> Callable[[list[Any]], Any]:
    """Builds a model's object from a row, with those that select_related adds over required foreign keys."""
    model, first, end = info["model"], info["select_fields"][0], info["select_fields"][-1] + 1
    fields = [column[0].target.attname for column in select[first:end]]
    related = [(one["local_setter"], _builder(one, select)) for one in info.get("related_klass_infos", [])]

    def build(row: list[Any]) -> Any:
        built = model.from_db(connection.alias, fields, row[first:end])
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
