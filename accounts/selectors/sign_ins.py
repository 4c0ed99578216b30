"""The one read of every request: a session with its person."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import Session, User
from accounts.statements import prepared


class _Statement(NamedTuple):
    sql: str
    session_fields: list[str]
    user_fields: list[str]
    converters: dict[int, tuple[list[Callable[..., Any]], Any]]


def session_with_user(*, sid: UUID, user_id: int) -> Session | None:
    """The session of this id and person, with `user` at hand, in one query; None without one."""
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


def fit_to_speak(session_ids: Iterable[int]) -> dict[int, int]:
    """Those of these sessions that live, of people who are confirmed and not blocked by staff: whose they are.

    By hand and in one query, for the many small things that many sockets say in the same moment.
    """
    wanted = list(set(session_ids))
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    places = ", ".join(["%s"] * len(wanted))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT s.id, s.user_id FROM {Session._meta.db_table} s"
            f" JOIN {User._meta.db_table} u ON u.id = s.user_id"
            f" WHERE s.id IN ({places}) AND s.ended_at IS NULL AND s.expires_at > %s"
            " AND u.email_verified_at IS NOT NULL AND (u.blocked_at IS NULL OR u.blocked_until <= %s)",
            [*wanted, now, now],
        )
        return dict(cursor.fetchall())


_SID = Session._meta.get_field("sid")


@lru_cache(maxsize=2)
def _statement(vendor: str) -> _Statement:
    """The ORM's own statement, compiled once: composing it anew costs more than running it."""
    found = Session.objects.select_related("user").filter(sid=UUID(int=0), user_id=0)
    compiler = found.query.get_compiler(connection=connection)
    sql, _params = compiler.as_sql()
    return _Statement(
        sql,
        [field.attname for field in Session._meta.concrete_fields],
        [field.attname for field in User._meta.concrete_fields],
        compiler.get_converters([column[0] for column in compiler.select]),
    )
