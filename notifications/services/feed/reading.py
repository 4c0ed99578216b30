"""Reading and removing one's own rows."""

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from core.transactions import unit_of_work
from notifications.exceptions import NotificationNotFound
from notifications.models import Notification
from notifications.services import delivery
from notifications.services.feed.actors import remove
from notifications.signals import notification_changed, notifications_read_all

# How many ids a statement may name.
_AT_ONCE = 10_000


def mark_read(*, user_id: int, notification_id: int) -> None:
    """One row is read; a second time changes nothing. NotificationNotFound for one that is not theirs."""
    with unit_of_work():
        row = _own_row(user_id, notification_id)
        if row.is_read:
            return
        _close(Notification.objects.filter(id=row.id), timezone.now())
        delivery.cancel(reason="read", notification_ids=[row.id])
        notification_changed.send(Notification, recipient_id=user_id, notification_id=row.id, silent=True)


def mark_all_read(*, user_id: int, until: datetime) -> int:
    """Everything up to `until` is read, later occurrences stay; returns how many rows changed.

    Pushes that wait need no word here: one of a row that was read is dropped when its turn comes.
    """
    updated = 0
    unread = Notification.objects.unread().filter(recipient_id=user_id, created_at__lte=until)
    with unit_of_work():
        # In the order of their ids, or two of these at once could wait for each other.
        ids = list(unread.select_for_update().order_by("id").values_list("id", flat=True))
        for first in range(0, len(ids), _AT_ONCE):
            rows = Notification.objects.filter(id__in=ids[first : first + _AT_ONCE])
            updated += _close(rows, timezone.now())
        if updated:
            notifications_read_all.send(Notification, recipient_id=user_id)
    return updated


def delete(*, user_id: int, notification_id: int) -> None:
    """Removes one's own row. NotificationNotFound for one that is not theirs."""
    with unit_of_work():
        remove(_own_row(user_id, notification_id))


def _own_row(user_id: int, notification_id: int) -> Notification:
    visible = Notification.objects.visible_to(user_id).filter(id=notification_id)
    row = visible.select_for_update(of=("self",)).first()
    if row is None:
        raise NotificationNotFound
    return row


def _close(rows: QuerySet[Notification], now: datetime) -> int:
    return rows.update(is_read=True, read_at=now, is_open=False)
