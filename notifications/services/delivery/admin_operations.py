"""Operations on the delivery queue for admin and management commands."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils import timezone

from accounts.services import audit
from core.transactions import unit_of_work
from notifications.channels import Sent, push_channel
from notifications.conf import conf
from notifications.models import ChannelPause, Delivery, Device
from notifications.selectors import deliveries_by_state, delivery_lag_seconds
from notifications.services.delivery.push_handler import reading_language
from notifications.services.delivery.push_messages import test_message
from notifications.services.delivery.push_outbox import CALL_KINDS
from notifications.services.delivery.wakeups import wake_on_commit

if TYPE_CHECKING:
    from accounts.models import User

State = Delivery.State
# The most ids that an audit row names.
IDS_IN_AUDIT = 100


def retriable(
    *,
    state: str = State.DEAD,
    channel: str | None = None,
    ids: Iterable[int] | None = None,
    since: datetime | None = None,
) -> QuerySet[Delivery]:
    """Rows that can be sent again, oldest first: failed, or waiting for their next try.

    Failed mails and calls are left out: the content of a failed mail is deleted, and the call is over.
    """
    rows = Delivery.objects.filter(state=state).exclude(kind__in=CALL_KINDS)
    if state != State.PENDING:
        rows = rows.exclude(channel=Delivery.Channel.MAIL)
    else:
        rows = rows.filter(due_at__gt=timezone.now())
    if channel is not None:
        rows = rows.filter(channel=channel)
    if ids is not None:
        rows = rows.filter(id__in=list(ids))
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    return rows.order_by("id")


def retry(*, ids: Iterable[int], actor: "User | str", reason: str = "") -> int:
    """Send these rows now, with a full number of attempts, where they can be sent again. Returns how many."""
    now = timezone.now()
    with unit_of_work():
        delivery_ids = list(ids)
        pending = retriable(state=State.PENDING, ids=delivery_ids).update(due_at=now)
        failed = retriable(state=State.DEAD, ids=delivery_ids).update(
            state=State.PENDING,
            due_at=now,
            tries=0,
            finished_at=None,
            expires_at=now + timedelta(seconds=conf.PUSH_SECONDS),
        )
        if pending + failed:
            audit.record(
                action="retry_deliveries",
                actor=actor,
                reason=reason,
                count=pending + failed,
                ids=delivery_ids[:IDS_IN_AUDIT],
            )
            wake_on_commit()
    return pending + failed


def validate_devices(*, user_id: int, device_ids: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """Validates a user's devices with a dry run of the push service: it sends nothing.

    ImproperlyConfigured when push cannot be sent at all.
    """
    channel = push_channel()
    results = []
    for device in devices_of(user_id, device_ids):
        message = test_message(device.registration_id, language=reading_language(device.locale, device.user.language))
        outcome = channel.send(message, dry_run=True) if channel else None
        is_sent = isinstance(outcome, Sent)
        results.append(
            {
                "device_id": device.id,
                "token": device.masked_token,
                "ok": is_sent,
                "error": "" if is_sent else getattr(outcome, "error", "push is switched off"),
            }
        )
    return results


def devices_of(user_id: int, device_ids: Iterable[int] | None = None) -> list[Device]:
    """A user's reachable devices."""
    rows = Device.objects.active().filter(user_id=user_id).select_related("user").order_by("id")
    if device_ids is not None:
        rows = rows.filter(id__in=list(device_ids))
    return list(rows)


def figures() -> dict[str, Any]:
    deliveries: dict[str, dict[str, int]] = {
        str(channel): dict.fromkeys(State.values, 0) for channel in Delivery.Channel.values
    }
    for (channel, state), number in deliveries_by_state().items():
        deliveries[channel][state] = number
    pauses = {
        pause.channel: {"reason": pause.reason, "since": pause.started_at, "until": pause.until}
        for pause in ChannelPause.objects.all()
    }
    return {
        "deliveries": deliveries,
        "oldest_due_seconds": round(delivery_lag_seconds(), 3),
        "paused": pauses,
        "devices": {"all": Device.objects.count(), "active": Device.objects.active().count()},
    }
