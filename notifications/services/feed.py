"""Changes of the feed: reading and deleting notifications, preferences, notifications about messages, and the removal
of actors after a retraction, a block or the erasure of an account.

Likes, comments, replies and follows are added in `social`.
"""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts import sql
from core.database.statements import as_parameter, is_any, moment, on_postgresql
from core.database.statements import row as stored_row
from core.database.statements import rows as stored_rows
from core.database.transactions import lock_in_order, unit_of_work
from messaging.selectors import conversations_for
from notifications.exceptions import NotificationNotFound
from notifications.models import Delivery, Notification, Occurrence, Preferences
from notifications.services import delivery, devices
from notifications.signals import notification_changed, notifications_read_all


def mark_read(*, user_id: int, notification_id: int, session_id: int | None = None) -> None:
    """Marks one notification as read, in this session. A second call changes nothing. NotificationNotFound for another
    user's."""
    with unit_of_work():
        row, _ = _own_row(user_id, notification_id)
        if row.is_read:
            return
        _close([row.id], user_id, session_id)
        delivery.cancel(reason="read", notification_ids=[row.id])
        notification_changed.send(Notification, recipient_id=user_id, notification_id=row.id, silent=True)


def mark_all_read(*, user_id: int, until: datetime, session_id: int | None = None) -> int:
    """Marks everything up to `until` as read, in this session; returns how many notifications changed.

    Waiting pushes are not cancelled here: the worker drops those of read notifications.
    """
    unread = Notification.objects.unread().filter(recipient_id=user_id, created_at__lte=until)
    with unit_of_work():
        ids = lock_in_order(unread, no_key=False)
        updated = _close(ids, user_id, session_id)
        if updated:
            notifications_read_all.send(Notification, recipient_id=user_id)
    return updated


def delete(*, user_id: int, notification_id: int, session_id: int | None = None) -> None:
    """Removes one notification, in this session. NotificationNotFound for another user's."""
    with unit_of_work():
        row, was_pushed = _own_row(user_id, notification_id)
        if was_pushed and not row.is_read:
            delivery.enqueue_read_push(recipient_id=user_id, notification_ids=[row.id], session_id=session_id)
        remove(row)


def change_preferences(*, user_id: int, choices: Mapping[str, bool]) -> Preferences:
    """Sets the named switches and leaves the others. Queued pushes are checked again when they are sent. TokenRevoked,
    AccountBlocked."""
    with unit_of_work():
        get_user_model().objects.lock_active(user_id)
        preferences, _ = Preferences.objects.update_or_create(user_id=user_id, defaults=dict(choices))
    return preferences


def forget_preferences(*, user_id: int) -> None:
    """Restores the defaults. Part of the caller's unit of work."""
    Preferences.objects.filter(user_id=user_id).delete()


def _own_row(user_id: int, notification_id: int) -> tuple[Notification, bool]:
    """The locked notification, and whether a push about it was sent."""
    visible = Notification.objects.visible_to(user_id).filter(id=notification_id)
    pushes = delivery.pushes_sent().filter(notification=OuterRef("id"))
    row = visible.annotate(was_pushed=Exists(pushes)).select_for_update(of=("self",)).first()
    if row is None:
        raise NotificationNotFound
    return row, row.was_pushed


_CLOSE = f"""
UPDATE notifications_notification SET is_read = true, is_open = false, read_at = %s
WHERE {is_any("id")} RETURNING id, {delivery.WAS_PUSHED}
"""


def _close(ids: Sequence[int], user_id: int, session_id: int | None) -> int:
    """Marks locked notifications of a user as read. Returns how many."""
    closed = stored_rows(_CLOSE, [as_parameter(timezone.now()), as_parameter(set(ids))])
    pushed_ids = [row_id for row_id, was_pushed in closed if was_pushed]
    delivery.enqueue_read_push(recipient_id=user_id, notification_ids=pushed_ids, session_id=session_id)
    return len(closed)


# --- Rows of kind `message`: one unread row per conversation ---
#
# Messaging locks the conversation before it sends a signal, so for one conversation these functions run one after the
# other. Such a notification has no occurrences: it counts the unread messages from its first one on. The functions run
# for every message, so they are hand-written statements, the same for both databases.

# The statement that writes also checks the preferences and the recipient's account status.
_ARRIVE = f"""
INSERT INTO notifications_notification AS n (
    recipient_id, kind, group_key, is_open, actor_id, target_id, target_title, count, first_message_id, is_read,
    first_at, created_at
)
SELECT person.id, 'message', %s, true, %s, %s, '', 1, %s, false, %s, %s
FROM {sql.USERS} person LEFT JOIN notifications_preferences choice ON choice.user_id = person.id
WHERE person.id = %s AND COALESCE(choice.enabled AND choice.messages, true)
  AND {sql.is_active("person")}
ON CONFLICT (recipient_id, kind, group_key) WHERE is_open
DO UPDATE SET count = n.count + 1, created_at = excluded.created_at
RETURNING id, COALESCE((SELECT quiet_mode FROM notifications_preferences WHERE user_id = recipient_id), false),
    EXISTS (SELECT 1 FROM notifications_device WHERE user_id = recipient_id AND active)
"""

_RESOLVE = f"""
UPDATE notifications_notification SET is_read = true, is_open = false, read_at = %s
WHERE recipient_id = %s AND kind = 'message' AND group_key = %s AND is_open
RETURNING id, {delivery.WAS_PUSHED}
"""

_REDUCE = """
UPDATE notifications_notification SET count = %s
WHERE recipient_id = %s AND kind = 'message' AND group_key = %s AND is_open AND count > %s
RETURNING id, false
"""


def message_arrived(*, recipient_id: int, sender_id: int, conversation_id: int, message_id: int, at: datetime) -> None:
    """A message counts as unread for its recipient. Messaging has decided whether the two may write to each other."""
    key, sent_at, now = _conversation_key(conversation_id), as_parameter(at), as_parameter(timezone.now())
    values = [key, sender_id, conversation_id, message_id, sent_at, sent_at, recipient_id, now]
    with unit_of_work(savepoint=False):
        stored = stored_row(_ARRIVE, values)
        if stored is None:
            return
        notification_id, is_silent, has_device = stored[0], bool(stored[1]), bool(stored[2])
        if has_device and not is_silent:
            delivery.enqueue_push(recipient_id=recipient_id, notification_id=notification_id)
        notification_changed.send(
            Notification, recipient_id=recipient_id, notification_id=notification_id, silent=is_silent
        )


def message_withdrawn(*, recipient_id: int, conversation_id: int, message_id: int) -> None:
    """An unread message was deleted: its notification counts one less, and is removed when it is empty.

    The notification gets the time of the newest remaining message. A push that would only repeat the last one is
    recognised by it.
    """
    with unit_of_work():
        row = (
            Notification.objects.select_for_update()
            .filter(
                recipient_id=recipient_id,
                kind="message",
                group_key=_conversation_key(conversation_id),
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


def conversation_read(
    *, reader_id: int, conversation_id: int, unread_count: int, session_id: int | None = None
) -> None:
    """The user has read in this session: `unread_count` unread messages are left in the conversation. 0 marks its
    notification as read."""
    key = _conversation_key(conversation_id)
    with unit_of_work():
        if unread_count == 0:
            changed = stored_row(_RESOLVE, [as_parameter(timezone.now()), reader_id, key])
        else:
            changed = stored_row(_REDUCE, [unread_count, reader_id, key, unread_count])
        if changed is None:
            return
        notification_id, was_pushed = changed
        if unread_count == 0:
            pushed_ids = [notification_id] if was_pushed else []
            delivery.enqueue_read_push(recipient_id=reader_id, notification_ids=pushed_ids, session_id=session_id)
            delivery.cancel(reason="read", notification_ids=[notification_id])
        notification_changed.send(Notification, recipient_id=reader_id, notification_id=notification_id, silent=True)


def _conversation_key(conversation_id: int) -> str:
    return f"conversation:{conversation_id}"


# --- Removal ---


def remove_actors(row: Notification, condition: Q) -> bool:
    """Removes occurrences of a locked notification; False when none matched.

    The notification then shows its latest remaining occurrence. A push about the removed ones only is cancelled. A
    notification without occurrences is removed.
    """
    deleted, _ = row.occurrences.filter(condition).delete()
    if not deleted:
        return False
    latest = row.occurrences.order_by("-occurred_at", "-id").first()
    if latest is None:
        remove(row)
        return True
    if latest.occurred_at < row.created_at:
        delivery.cancel(reason="withdrawn", notification_ids=[row.id], queued_since=row.created_at)
    row.count -= deleted
    row.actor_id = latest.actor_id
    row.created_at = latest.occurred_at
    row.save(update_fields=["count", "actor", "created_at"])
    notification_changed.send(Notification, recipient_id=row.recipient_id, notification_id=row.id, silent=True)
    return True


def remove(row: Notification) -> None:
    """Deletes a notification and cancels its waiting push."""
    recipient_id, notification_id = row.recipient_id, row.id
    delivery.cancel(reason="withdrawn", notification_ids=[notification_id], before_deletion=True)
    row.delete()
    notification_changed.send(Notification, recipient_id=recipient_id, notification_id=notification_id, silent=True)


def remove_users_from_each_others_feed(*, a_id: int, b_id: int) -> None:
    """After a block: removes each user from the feed of the other. The end of the block restores nothing."""
    with unit_of_work():
        lock_pair(a_id, b_id, shared=False)
        lock_in_order(
            Notification.objects.filter(
                (Q(recipient_id=a_id) & _with_actor(b_id)) | (Q(recipient_id=b_id) & _with_actor(a_id))
            ),
            no_key=False,
        )
        for recipient_id, actor_id in sorted(((a_id, b_id), (b_id, a_id))):
            _remove_everywhere(actor_id, Q(recipient_id=recipient_id))


def remove_user(*, user_id: int) -> None:
    """Deletes feed, devices and preferences of an account that is being erased, and removes it from other feeds."""
    with unit_of_work():
        lock_in_order(Notification.objects.filter(Q(recipient_id=user_id) | _with_actor(user_id)), no_key=False)
        _remove_everywhere(user_id, Q())
        devices.remove_all(user_id=user_id)
        # Mail stays, because the last one confirms the deletion. Its content is deleted when it is sent.
        Delivery.objects.filter(recipient_id=user_id, channel=Delivery.Channel.PUSH).delete()
        Notification.objects.filter(recipient_id=user_id).delete()
        forget_preferences(user_id=user_id)


def _with_actor(actor_id: int) -> Q:
    # Notifications about messages have no occurrences and name the actor themselves.
    return Q(actor_id=actor_id) | Q(id__in=Occurrence.objects.filter(actor_id=actor_id).values("notification_id"))


def _remove_everywhere(actor_id: int, condition: Q) -> None:
    rows = Notification.objects.select_for_update().filter(condition & _with_actor(actor_id)).order_by("id")
    for row in rows:
        if not remove_actors(row, Q(actor_id=actor_id)) and row.actor_id == actor_id:
            remove(row)


# A lock for two users, so that a notification between them and a block never run concurrently. Otherwise an occurrence
# that was checked just before the block could be written just after it. SQLite has one writer at a time and needs no
# lock. The namespace separates these locks from other advisory locks of the database.
_NAMESPACE = 0x70617273


def lock_pair(a_id: int, b_id: int, *, shared: bool) -> None:
    """A notification takes the shared lock: until its transaction ends no block can start, but other notifications can.
    A block takes the exclusive lock: it waits for running notifications between the two, and later ones see it."""
    if not on_postgresql():
        return
    function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    low, high = sorted((a_id, b_id))
    pair = zlib.crc32(f"{low}:{high}".encode()) - 2**31
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_NAMESPACE, pair])
