"""Queues, cancels and retries pushes. An event takes one statement for any number of devices.

Mail is queued in `mail`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Case, F, Q, QuerySet, When
from django.utils import timezone

from accounts.services import audit
from core.database.statements import as_parameter, on_postgresql, prepared
from core.database.transactions import lock_in_order, unit_of_work
from notifications.conf import conf
from notifications.models import Delivery, DeliveryQuerySet, Device
from notifications.services.delivery.wakeups import wake_on_commit

if TYPE_CHECKING:
    from accounts.models import User

State = Delivery.State
# The most ids that an audit row names.
IDS_IN_AUDIT = 100

# A phone that was offline while the call rang still gets the end of the call for this long.
_CALL_ENDED_SECONDS = 120


def enqueue_push(*, recipient_id: int, notification_id: int) -> int:
    """Queue the push of a notification to every device of its recipient. Returns how many.

    Its content is rendered when it is sent. Part of the caller's transaction.
    """
    now = timezone.now()
    values = {
        "notification_id": notification_id,
        "recipient_id": recipient_id,
        "now": as_parameter(now),
        "recently": as_parameter(now - timedelta(seconds=conf.PUSH_GROUP_SECONDS)),
        "expires": as_parameter(now + timedelta(seconds=conf.PUSH_SECONDS)),
    }
    with prepared() as cursor:
        cursor.execute(_notification_statement(), values)
        count = int(cursor.rowcount)
    if count:
        wake_on_commit()
    return count


def enqueue_call_push(*, recipient_id: int, data: Mapping[str, str], expires_at: datetime) -> int:
    """Queue a data-only push about a call, ahead of all others. `data` holds type and call_id; all values are text, as
    FCM requires.

    `incoming_call` is sent to every device until `expires_at`. `call_ended` cancels those that still wait, and is sent
    to the devices that were rung. Returns how many. Part of the caller's transaction.
    """
    kind, group = data["type"], f"call:{data['call_id']}"
    devices = Device.objects.active().filter(user_id=recipient_id)
    with unit_of_work(savepoint=False):
        if kind == "call_ended":
            expires_at = max(expires_at, timezone.now() + timedelta(seconds=_CALL_ENDED_SECONDS))
            rings = _rings(recipient_id, group)
            # Devices are locked before their deliveries, as in a registration.
            lock_in_order(devices)
            _cancel(rings, "the call is over")
            rung = rings.filter(Q(state__in=(State.SENT, State.LEASED)) | Q(tries__gt=0))
            devices = devices.filter(id__in=rung.values("device_id"))
        return _enqueue(
            devices,
            kind=kind,
            group_key=group,
            key=f"{group}:{kind}",
            priority=Delivery.Priority.CALL,
            recipient_id=recipient_id,
            payload={"data": dict(data)},
            expires_at=expires_at,
        )


def cancel_call_push(*, recipient_id: int, call_id: int) -> None:
    """Cancel the waiting pushes of a call that was answered. Part of the caller's transaction."""
    _cancel(_rings(recipient_id, f"call:{call_id}"), "the call was answered")


def _rings(recipient_id: int, group: str) -> DeliveryQuerySet:
    return Delivery.objects.filter(group_key=group, kind="incoming_call", recipient_id=recipient_id)


def enqueue_test_push(*, recipient_id: int, device_ids: Iterable[int] | None = None) -> int:
    """Queue a test push to all devices of a user or to some of them. Returns how many."""
    now = timezone.now()
    devices = Device.objects.active().filter(user_id=recipient_id)
    if device_ids is not None:
        devices = devices.filter(id__in=list(device_ids))
    return _enqueue(
        devices,
        kind="test",
        group_key="test",
        key=f"test:{now.timestamp()}",
        priority=Delivery.Priority.MESSAGE,
        recipient_id=recipient_id,
        expires_at=now + timedelta(minutes=10),
    )


def send_test_push(*, user: "User", device_ids: Iterable[int], actor: "User | str") -> int:
    """Queue a test push to these devices on behalf of support. Returns how many; if there are any, the audit log names
    them."""
    ids = list(device_ids)
    with unit_of_work():
        queued = enqueue_test_push(recipient_id=user.id, device_ids=ids)
        if queued:
            audit.record(action="push.tested", actor=actor, target=user, device_ids=ids)
    return queued


def enqueue_webhooks(events: Iterable[tuple[int, str, int, str]]) -> int:
    """Queue deliveries of events to webhook targets. Each is a tuple: id and type of the event, its number in the log,
    and the name of the target. Returns how many. Part of the caller's transaction."""
    now = timezone.now()
    expires_at = now + timedelta(seconds=conf.WEBHOOK_SECONDS)
    rows = [
        Delivery(
            channel=Delivery.Channel.WEBHOOK,
            target=target,
            kind=type_,
            dedupe_key=f"webhook:{target}:{number}",
            priority=Delivery.Priority.REST,
            payload={"event": event_id},
            due_at=now,
            expires_at=expires_at,
        )
        for event_id, type_, number, target in events
    ]
    Delivery.objects.bulk_create(rows, batch_size=500)
    if rows:
        wake_on_commit()
    return len(rows)


def cancel_webhooks(*, target: str, reason: str) -> int:
    """Cancel the waiting deliveries to a target that was switched off. Returns how many."""
    with unit_of_work(savepoint=False):
        return _cancel(Delivery.objects.filter(channel=Delivery.Channel.WEBHOOK, target=target), reason)


def cancel(
    *,
    reason: str,
    device_ids: Iterable[int] | None = None,
    notification_ids: Iterable[int] | None = None,
    queued_since: datetime | None = None,
    before_deletion: bool = False,
) -> int:
    """Cancel the waiting pushes that match all arguments. Returns how many.

    A push that a worker is sending is not stopped, but not retried either. `before_deletion` is for devices or
    notifications that are deleted next: the same statement also clears the reference to them. If the deletion cleared
    it in a second update, PostgreSQL would check all references of the row at the commit, and could wait there for
    another transaction that has locked one of them.
    """
    rows = Delivery.objects.filter(channel=Delivery.Channel.PUSH)
    references: dict[str, None] = {}
    if device_ids is not None:
        rows = rows.filter(device_id__in=list(device_ids))
        references["device"] = None
    if notification_ids is not None:
        rows = rows.filter(notification_id__in=list(notification_ids))
        references["notification"] = None
    if queued_since is not None:
        # A push that a later occurrence has joined is about more than the withdrawn one.
        rows = rows.filter(created_at__gte=queued_since, touched_at=F("created_at"))
    with unit_of_work(savepoint=False):
        if before_deletion:
            # The deletion also clears the references of finished deliveries, so those are locked here, too.
            lock_in_order(rows)
        return _cancel(rows, reason, **(references if before_deletion else {}))


def _cancel(rows: DeliveryQuerySet, reason: str, **cleared: None) -> int:
    """Cancels the pending deliveries and sets the references in `cleared` to null. Returns how many."""
    pending = rows.pending()
    lock_in_order(pending)
    values = {"state": State.CANCELLED, "last_error": reason[:300], "finished_at": timezone.now()}
    return pending.update(payload={}, **values, **cleared)


def switch_off(device_id: int, token: str) -> bool:
    """Stop pushes to a device whose token is dead until it is registered again. False if it has another token by
    now."""
    is_off = Device.objects.filter(id=device_id, registration_id=token).update(active=False) > 0
    if is_off:
        cancel(reason="the token is dead", device_ids=[device_id])
    return is_off


def retry(*, ids: Iterable[int], actor: "User | str", reason: str) -> int:
    """Send those of these deliveries again that can be, now and with a full number of attempts. Returns how many."""
    now = timezone.now()
    with unit_of_work():
        delivery_ids = list(ids)
        rows = Delivery.objects.filter(id__in=delivery_ids)
        lock_in_order(rows)
        retriable = rows.retriable()
        pending = retriable.filter(state=State.PENDING).update(due_at=now)
        failed = retriable.filter(state=State.DEAD).update(
            state=State.PENDING,
            due_at=now,
            tries=0,
            finished_at=None,
            expires_at=Case(
                When(channel=Delivery.Channel.WEBHOOK, then=now + timedelta(seconds=conf.WEBHOOK_SECONDS)),
                default=now + timedelta(seconds=conf.PUSH_SECONDS),
            ),
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


def _enqueue(devices: QuerySet[Device], *, key: str, **values: Any) -> int:
    """Queues a delivery for each device, unless it has one with this key already."""
    with unit_of_work(savepoint=False):
        # A device that is removed meanwhile must not fail this.
        rows = [
            Delivery(channel=Delivery.Channel.PUSH, device_id=device_id, dedupe_key=f"{key}:{device_id}", **values)
            for device_id in lock_in_order(devices)
        ]
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)
        if rows:
            wake_on_commit()
    return len(rows)


def _notification_statement() -> str:
    """The SQL that queues the push of a notification to every device of its recipient.

    The first push of a group is sent at once. While it waits in the queue, later occurrences join it. The next one is
    sent a minute after it, with the final count; if the first is canceled meanwhile, a later occurrence sends the next
    one at once. Once a notification is read, the next one is a new group and is sent at once. After a withdrawal it is
    not, so liking and unliking in turns sends one push a minute.
    """
    group = "(n.kind || ':' || CASE n.group_key WHEN '' THEN CAST(n.id AS text) ELSE n.group_key END)"
    open_key = f"{group} || ':' || CAST(d.id AS text) || ':open'"
    seconds = int(conf.PUSH_GROUP_SECONDS)
    if on_postgresql():
        greatest, least = "greatest", "least"
        a_minute_later = f"p.at + interval '{seconds} seconds'"
        # A device that is removed meanwhile must not make the statement fail.
        lock = "FOR KEY SHARE"
    else:
        greatest, least = "max", "min"
        a_minute_later = f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', p.at, '+{seconds} seconds')"
        lock = ""
    # Two ranges of one index: the cost does not grow with the log.
    of_group = f"""
        FROM notifications_delivery WHERE device_id = d.id AND group_key = {group} AND dedupe_key <> {open_key}
            AND (notification_id IS NULL OR notification_id = n.id)"""
    recent_pushes = f"""
        SELECT finished_at AS at {of_group} AND state = 'sent' AND finished_at > %(recently)s
        UNION ALL SELECT due_at {of_group} AND state IN ('leased', 'pending') AND finished_at IS NULL"""
    # Locks devices in the order in which removals lock them, then the joined deliveries in the order of
    # `lock_in_order`.
    return f"""
        INSERT INTO notifications_delivery (
            channel, target, kind, dedupe_key, group_key, priority, recipient_id, device_id, notification_id,
            payload, state, due_at, expires_at, tries, last_error, provider_id, created_at, touched_at
        )
        SELECT 'push', '', n.kind, {open_key}, {group},
            CASE WHEN n.kind = 'message' THEN {Delivery.Priority.MESSAGE:d} ELSE {Delivery.Priority.REST:d} END,
            d.user_id, d.id, n.id, '{{}}', 'pending',
            {greatest}(%(now)s, coalesce((SELECT max({a_minute_later}) FROM ({recent_pushes}) AS p), %(now)s)),
            %(expires)s, 0, '', '', %(now)s, %(now)s
        FROM notifications_notification AS n
        JOIN (
            SELECT id, user_id FROM notifications_device WHERE user_id = %(recipient_id)s AND active ORDER BY id {lock}
        ) AS d ON d.user_id = n.recipient_id
        LEFT JOIN notifications_delivery AS joined ON joined.dedupe_key = {open_key}
        WHERE n.id = %(notification_id)s AND n.recipient_id = %(recipient_id)s
        ORDER BY joined.id, d.id
        ON CONFLICT (dedupe_key) DO UPDATE SET
            state = 'pending', touched_at = excluded.touched_at, notification_id = excluded.notification_id,
            recipient_id = excluded.recipient_id, expires_at = excluded.expires_at, finished_at = NULL, last_error = '',
            due_at = CASE WHEN notifications_delivery.state = 'pending'
                THEN {least}(notifications_delivery.due_at, excluded.due_at) ELSE excluded.due_at END
        """
