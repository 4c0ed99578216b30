"""Removes users from feeds, after a block or when an account is erased."""

from django.db.models import Q

from core.transactions import unit_of_work
from notifications.models import Delivery, Device, Member, Notification, Preferences
from notifications.services.feed import pair_lock
from notifications.services.feed.actors import remove, remove_actors


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
