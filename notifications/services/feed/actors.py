"""Removes actors from rows of the feed: one by one, after a block, or when an account is erased."""

from django.db.models import Q

from core.transactions import unit_of_work
from notifications.models import Delivery, Device, Member, Notification, Preferences
from notifications.services import delivery
from notifications.services.feed import pair_lock
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


def remove_users_from_each_others_feed(*, a_id: int, b_id: int) -> None:
    """After a block: neither appears in the other's feed. An end of the block brings nothing back."""
    with unit_of_work():
        pair_lock.lock_exclusive(a_id, b_id)
        for recipient_id, actor_id in sorted(((a_id, b_id), (b_id, a_id))):
            _remove_everywhere(actor_id, Q(recipient_id=recipient_id))


def remove_user(*, user_id: int) -> None:
    """An account is being erased: its feed, devices and preferences go, and it leaves the feeds of others."""
    with unit_of_work():
        _remove_everywhere(user_id, Q())
        # Mail stays: the last one says that the account is gone, and wipes itself when sent.
        Delivery.objects.filter(recipient_id=user_id, channel=Delivery.Channel.PUSH).delete()
        Device.objects.filter(user_id=user_id).delete()
        Notification.objects.filter(recipient_id=user_id).delete()
        Preferences.objects.filter(user_id=user_id).delete()


def _remove_everywhere(actor_id: int, where: Q) -> None:
    # Rows without members (messages) name the actor themselves.
    with_actor = Q(actor_id=actor_id) | Q(id__in=Member.objects.filter(actor_id=actor_id).values("notification_id"))
    rows = Notification.objects.select_for_update().filter(where & with_actor).order_by("id")
    for row in rows:
        if not remove_actors(row, Q(actor_id=actor_id)) and row.actor_id == actor_id:
            remove(row)
