"""Rows of kind `message`: one unread row per conversation.

Messaging locks the conversation before it sends a signal, so for one conversation these run one after the
other. They have no members: a row counts the unread messages from its first one on. The functions run for
every message, so they are hand-written statements, the same for both databases.
"""

from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts import sql
from core.database import as_parameter, moment
from core.database import row as read_row
from core.transactions import unit_of_work
from messaging.selectors import conversations_for
from notifications.models import Device, Notification, Preferences
from notifications.services import delivery
from notifications.services.feed.rows import remove
from notifications.signals import notification_changed

_ROW = Notification._meta.db_table
_DEVICE = Device._meta.db_table
_PREFERENCES = Preferences._meta.db_table

# Preferences and the recipient's account status are checked by the same statement that writes.
_ARRIVE = f"""
INSERT INTO {_ROW} (recipient_id, kind, group_key, is_open, actor_id, target_id, target_title, count,
                   first_message_id, is_read, first_at, created_at)
SELECT person.id, 'message', %s, true, %s, %s, '', 1, %s, false, %s, %s
FROM {sql.USERS} person LEFT JOIN {_PREFERENCES} choice ON choice.user_id = person.id
WHERE person.id = %s AND COALESCE(choice.enabled AND choice.messages, true)
  AND {sql.is_active("person")}
ON CONFLICT (recipient_id, kind, group_key) WHERE is_open
DO UPDATE SET count = {_ROW}.count + 1, created_at = excluded.created_at
RETURNING id, COALESCE((SELECT quiet_mode FROM {_PREFERENCES} WHERE user_id = {_ROW}.recipient_id), false),
          EXISTS (SELECT 1 FROM {_DEVICE} WHERE user_id = {_ROW}.recipient_id AND active)
"""

_RESOLVE = f"""
UPDATE {_ROW} SET is_read = true, is_open = false, read_at = %s
WHERE recipient_id = %s AND kind = 'message' AND group_key = %s AND is_open
RETURNING id
"""

_REDUCE = f"""
UPDATE {_ROW} SET count = %s
WHERE recipient_id = %s AND kind = 'message' AND group_key = %s AND is_open AND count > %s
RETURNING id
"""


def message_arrived(*, recipient_id: int, sender_id: int, conversation_id: int, message_id: int, at: datetime) -> None:
    """A message that counts as unread for its recipient. Whether the two may write to each other was
    messaging's decision."""
    moment = as_parameter(at)
    now = as_parameter(timezone.now())
    values: list[Any] = [
        _key(conversation_id), sender_id, conversation_id, message_id, moment, moment, recipient_id, now,
    ]  # fmt: skip
    with unit_of_work(savepoint=False):
        stored = read_row(_ARRIVE, values)
        if stored is None:
            return
        notification_id, is_silent, has_device = stored[0], bool(stored[1]), bool(stored[2])
        if has_device and not is_silent:
            delivery.enqueue_push(recipient_id=recipient_id, notification_id=notification_id)
        notification_changed.send(
            Notification, recipient_id=recipient_id, notification_id=notification_id, silent=is_silent
        )


def message_withdrawn(*, recipient_id: int, conversation_id: int, message_id: int) -> None:
    """An unread message was deleted: its row counts one less, and is removed when it is empty.

    The row gets the time of the newest remaining message, so that a push which would only repeat the last one is
    recognised.
    """
    with unit_of_work():
        row = (
            Notification.objects.select_for_update()
            .filter(
                recipient_id=recipient_id,
                kind="message",
                group_key=_key(conversation_id),
                is_open=True,
                first_message_id__lte=message_id,
            )
            .first()
        )
        if row is None:
            return
        if row.count <= 1:
            remove(row)
            return
        row.count -= 1
        row.created_at = _newest_remaining(row, conversation_id) or row.created_at
        row.save(update_fields=["count", "created_at"])
        notification_changed.send(Notification, recipient_id=recipient_id, notification_id=row.id, silent=True)


def _newest_remaining(row: Notification, conversation_id: int) -> datetime | None:
    """The time of the last message that the recipient sees; None when another user sent it."""
    conversation = conversations_for(row.recipient_id, [conversation_id]).get(conversation_id)
    if conversation is None or conversation.message_id is None or conversation.sender_id != row.actor_id:
        return None
    return moment(conversation.created_at)


def conversation_read(*, reader_id: int, conversation_id: int, unread_count: int) -> None:
    """The reader has `unread_count` unread messages left in the conversation; 0 resolves its row."""
    key = _key(conversation_id)
    with unit_of_work():
        with connection.cursor() as cursor:
            if unread_count == 0:
                now = as_parameter(timezone.now())
                cursor.execute(_RESOLVE, [now, reader_id, key])
            else:
                cursor.execute(_REDUCE, [unread_count, reader_id, key, unread_count])
            changed = cursor.fetchone()
        if changed is None:
            return
        if unread_count == 0:
            delivery.cancel(reason="read", notification_ids=[changed[0]])
        notification_changed.send(Notification, recipient_id=reader_id, notification_id=changed[0], silent=True)


def _key(conversation_id: int) -> str:
    return f"conversation:{conversation_id}"
