"""Table names and SQL fragments for the hand-written statements of the hot paths.

A hand-written statement takes a quarter of the ORM's time. All of them are in this package and in
services/locking.py, and are tested on both databases.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection

from core.database import prepared
from core.fields import MAX_ID
from messaging.models import Conversation, Message, Participant, Reaction

User = get_user_model()

CONVERSATION = Conversation._meta.db_table
PARTICIPANT = Participant._meta.db_table
MESSAGE = Message._meta.db_table
REACTION = Reaction._meta.db_table
USER = User._meta.db_table
IMAGE = Message._meta.get_field("image").related_model._meta.db_table
BLOCK = User._meta.get_field("blocks_made").related_model._meta.db_table

# SQL: the privacy setting of a user `u`; an erased account cannot be contacted.
WHO_CAN_MESSAGE = "CASE WHEN u.erased_at IS NULL THEN u.who_can_message ELSE 'nobody' END"


def blocked_either_way(a: str, b: str) -> str:
    """SQL: one of the two (column names) has blocked the other."""
    return (
        f"(EXISTS (SELECT 1 FROM {BLOCK} b WHERE b.blocker_id = {a} AND b.blocked_id = {b})"
        f" OR EXISTS (SELECT 1 FROM {BLOCK} b WHERE b.blocker_id = {b} AND b.blocked_id = {a}))"
    )


# SQL: messages `m` of one conversation between two ids, both excluded; takes `between(…)`.
#
# Compared and sorted by the negative id, which the index message_keyset holds: with `ORDER BY id`
# PostgreSQL may scan the primary key instead, and so the messages of all other conversations.
BETWEEN = "m.conversation_id = %s AND (m.id * -1) < %s AND (m.id * -1) > %s"
NEWEST_FIRST = "ORDER BY (m.id * -1)"
OLDEST_FIRST = "ORDER BY (m.id * -1) DESC"


def between(conversation_id: int, above: int = 0, below: int = MAX_ID) -> list[int]:
    return [conversation_id, -above, -below]


def rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with prepared() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def rows_unprepared(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The same for a statement whose best plan depends on its parameters."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def row(sql: str, params: Sequence[Any]) -> tuple[Any, ...] | None:
    with prepared() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()


def places(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))


def moment(value: Any) -> str:
    """A stored time as the API writes it. SQLite returns text in UTC, PostgreSQL a datetime in UTC."""
    if isinstance(value, datetime):
        return value.isoformat()[:-6] + "Z" if value.tzinfo else value.isoformat() + "Z"
    return str(value).replace(" ", "T") + "Z"
