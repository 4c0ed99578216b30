"""The query of every authenticated request: a session with its user."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.models import Session, User
from core.database import prepared


class _Statement(NamedTuple):
    sql: str
    session_fields: list[str]
    user_fields: list[str]
    converters: dict[int, tuple[list[Callable[..., Any]], Any]]


def session_with_user(*, sid: UUID, user_id: int) -> Session | None:
    """The session of this id and user, with `user` loaded, in one query; None without one."""
    statement = _statement(connection.vendor)
    with prepared() as cursor:
        cursor.execute(statement.sql, [_SID.get_db_prep_value(sid, connection), user_id])
        row = cursor.fetchone()
    if row is None:
        return None
    values = list(row)
    for position, (converters, expression) in statement.converters.items():
        for convert in converters:
            values[position] = convert(values[position], expression, connection)
    own = len(statement.session_fields)
    session = Session.from_db(connection.alias, statement.session_fields, values[:own])
    session.user = User.from_db(connection.alias, statement.user_fields, values[own:])
    return session


def active_verified_sessions(session_ids: Iterable[int]) -> dict[int, int]:
    """Which of these sessions are valid and belong to confirmed, unblocked users: session id to user id.

    One query: it checks a batch of socket commands.
    """
    verified = User.objects.verified().active()
    live = Session.objects.live().filter(id__any=set(session_ids), user__in=verified)
    return dict(live.values_list("id", "user_id"))


_SID = Session._meta.get_field("sid")


@lru_cache(maxsize=2)
def _statement(vendor: str) -> _Statement:
    """The ORM's statement, compiled once: compiling it for each request costs more than running it."""
    found = Session.objects.select_related("user").filter(sid=UUID(int=0), user_id=0)
    compiler = found.query.get_compiler(connection=connection)
    sql, _params = compiler.as_sql()
    return _Statement(
        sql,
        [field.attname for field in Session._meta.concrete_fields],
        [field.attname for field in User._meta.concrete_fields],
        compiler.get_converters([column[0] for column in compiler.select]),
    )
