"""Table names and SQL fragments for the hand-written statements of the hot paths.

A hand-written statement takes a quarter of the ORM's time. All of them are in this package and in
services/locking.py, and are tested on both databases.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from core.database import prepared
from core.fields import MAX_ID
from messaging.models import Conversation, Message, Participant, Reaction

CONVERSATION = Conversation._meta.db_table
PARTICIPANT = Participant._meta.db_table
MESSAGE = Message._meta.db_table
REACTION = Reaction._meta.db_table

# SQL: a message `m` that is not deleted, as Message.objects.not_deleted().
NOT_DELETED = "m.deleted_at IS NULL"
# SQL: a message `m` above Participant.read_up_to for which Participant.is_unread() holds; takes the participant's id.
UNREAD = f"{NOT_DELETED} AND m.counts_as_unread AND m.sender_id <> %s"


def visible(m: str, cleared: str) -> str:
    """SQL: a message of a participant's conversation that Message.objects.visible_to() finds; `cleared` is the SQL of
    the participant's watermark."""
    return f"{m}.deleted_at IS NULL AND {m}.id > {cleared}"


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
