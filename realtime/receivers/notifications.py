"""Signals of the feed become events of its owner's log."""

from typing import Any

from django.dispatch import receiver

from notifications import signals as facts
from realtime.services import log


@receiver(facts.notification_changed)
def notification_changed(recipient_id: int, notification_id: int, silent: bool = False, **kwargs: Any) -> None:
    log.append(
        user_id=recipient_id,
        type="notification.new",
        object_id=notification_id,
        extra={"silent": True} if silent else None,
    )


@receiver(facts.notifications_read_all)
def notifications_read_all(recipient_id: int, **kwargs: Any) -> None:
    log.append(user_id=recipient_id, type="notification.read_all")
