"""Removes actors from a row of the feed."""

from django.db.models import Q

from notifications.models import Notification
from notifications.services import delivery
from notifications.signals import notification_changed


def remove_actors(row: Notification, which: Q) -> bool:
    """Removes the members of a locked row; False when none matched.

    The row falls back to its latest remaining member, and a push about the removed ones only is dropped;
    without any member the row goes.
    """
    gone, _ = row.members.filter(which).delete()
    if not gone:
        return False
    latest = row.members.order_by("-occurred_at", "-id").first()
    if latest is None:
        remove(row)
        return True
    if latest.occurred_at < row.created_at:
        delivery.cancel(reason="withdrawn", notification_ids=[row.id], queued_since=row.created_at)
    row.count -= gone
    row.actor_id = latest.actor_id
    row.created_at = latest.occurred_at
    row.save(update_fields=["count", "actor", "created_at"])
    notification_changed.send(Notification, recipient_id=row.recipient_id, notification_id=row.id, silent=True)
    return True


def remove(row: Notification) -> None:
    """Deletes a row; a push that still waits for it is dropped."""
    recipient_id, notification_id = row.recipient_id, row.id
    delivery.cancel(reason="withdrawn", notification_ids=[notification_id])
    row.delete()
    notification_changed.send(Notification, recipient_id=recipient_id, notification_id=notification_id, silent=True)
