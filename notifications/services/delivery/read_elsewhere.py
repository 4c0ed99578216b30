"""Removes notifications that were read on one device from the screens of the user's other devices. Only a device that
was shown a push gets one, at most once a minute, with the current number of unread notifications.

Notifications that are read within the minute join the waiting push, which keeps ids only. Their content is read when it
is sent.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.database.transactions import lock_in_order, unit_of_work
from notifications.conf import conf
from notifications.kinds import KINDS, READ
from notifications.models import Delivery, DeliveryQuerySet, Device, Notification
from notifications.services.delivery.claims import Claimed
from notifications.services.delivery.wakeups import wake_on_commit

State = Delivery.State
# Phones show fewer notifications of an app, and a push has room for 4 KB only.
MAX_IDS = 100

# Part of hand-written statements that change notifications: was a push about this one sent, or is it being sent?
WAS_PUSHED = (
    f"EXISTS (SELECT 1 FROM {Delivery._meta.db_table} p"
    f" WHERE p.notification_id = {Notification._meta.db_table}.id AND p.state IN ('{State.SENT}', '{State.LEASED}'))"
)


def enqueue_read_push(*, recipient_id: int, notification_ids: Collection[int], session_id: int | None) -> int:
    """Queue pushes that remove these notifications from the screens of the recipient's devices, except the one whose
    session read them. Returns how many devices.

    Part of the caller's transaction. Called for notifications about which a push was sent, before deliveries are
    locked.
    """
    if not notification_ids:
        return 0
    pushes = pushes_sent().filter(notification_id__in=notification_ids)
    devices = Device.objects.active().filter(user_id=recipient_id, id__in=pushes.values("device_id"))
    now = timezone.now()
    with unit_of_work(savepoint=False):
        # The lock also keeps two transactions from inserting a delivery for the same device.
        device_ids = lock_in_order(devices.exclude(session_id=session_id) if session_id else devices)
        if not device_ids:
            return 0
        shown: dict[int, set[int]] = defaultdict(set)
        for device_id, notification_id in pushes.filter(device_id__in=device_ids).values_list(
            "device_id", "notification_id"
        ):
            shown[device_id].add(notification_id)
        waiting = _waiting(device_ids)
        last_pushes = last_read_pushes(device_ids)
        expires_at = now + timedelta(seconds=conf.PUSH_SECONDS)
        new = []
        for device_id, ids in shown.items():
            row = waiting.get(device_id) or Delivery(
                channel=Delivery.Channel.PUSH,
                kind=READ,
                group_key=READ,
                dedupe_key=_open_key(device_id),
                priority=Delivery.Priority.REST,
                device_id=device_id,
                created_at=now,
            )
            if row.state != State.PENDING or row._state.adding:
                row.due_at = now
                if device_id in last_pushes:
                    row.due_at = max(now, last_pushes[device_id] + timedelta(seconds=conf.PUSH_GROUP_SECONDS))
                row.state, row.finished_at, row.last_error, row.payload = State.PENDING, None, "", {}
            row.payload = {"ids": sorted({*row.payload.get("ids", ()), *ids})[-MAX_IDS:]}
            row.recipient_id, row.touched_at, row.expires_at = recipient_id, now, expires_at
            if row._state.adding:
                new.append(row)
            else:
                row.save()
        Delivery.objects.bulk_create(new)
        wake_on_commit()
    return len(shown)


def last_read_pushes(device_ids: Iterable[int], but: Collection[int] = ()) -> dict[int, datetime]:
    """When each device got the last of these pushes, or will get it. Only pushes of the last minute count, without
    those in `but`."""
    since = timezone.now() - timedelta(seconds=conf.PUSH_GROUP_SECONDS)
    sent = Q(state=State.SENT, finished_at__gt=since)
    recent = Delivery.objects.filter(sent | Q(state=State.LEASED), device_id__in=set(device_ids), group_key=READ)
    times: dict[int, datetime] = {}
    for device_id, at in recent.exclude(id__in=but).values_list("device_id", Coalesce("finished_at", "due_at")):
        times[device_id] = max(at, times.get(device_id, at))
    return times


def to_take_away(rows: Sequence[Claimed]) -> dict[int, dict[str, str] | None]:
    """What each of these leased deliveries removes, by id, as data for the app: `conversation_id`, or
    `notification_ids` separated by commas. It is empty if nothing is left to remove, and None while a push about it is
    being sent.
    """
    ids = {number for row in rows for number in row.payload["ids"]}
    read = {row.id: row for row in Notification.objects.filter(id__any=ids)}
    states: dict[tuple[int, int], set[str]] = defaultdict(set)
    pushes = pushes_sent().filter(notification_id__in=ids, device_id__in={row.device_id for row in rows})
    for device_id, notification_id, state in pushes.values_list("device_id", "notification_id", "state"):
        states[device_id, notification_id].add(state)
    # If the group has an unread notification again, its newer push has replaced the one that was read.
    groups = {row.group_key for row in read.values() if row.group_key}
    unread = Notification.objects.unread().filter(
        recipient__in={row.recipient_id for row in rows}, group_key__in=groups
    )
    reopened = set(unread.values_list("recipient_id", "kind", "group_key"))

    def taken(row: Claimed) -> dict[str, str] | None:
        numbers = row.payload["ids"]
        own = {number: states[row.device_id or 0, number] for number in numbers}
        if any(State.LEASED in pushed for pushed in own.values()):
            return None
        shown = [
            number
            for number in numbers
            # The pushes of a deleted notification do not name it any more.
            if number not in read or (State.SENT in own[number] and _is_over(read[number], reopened))
        ]
        return _data(shown, read)

    return {row.id: taken(row) for row in rows}


def _is_over(row: Notification, reopened: set[tuple[Any, ...]]) -> bool:
    return row.is_read and (row.recipient_id, row.kind, row.group_key) not in reopened


def _data(ids: Sequence[int], read: dict[int, Notification]) -> dict[str, str]:
    if not ids:
        return {}
    rows = [read.get(number) for number in ids]
    targets = {(row.kind, row.target_id) if row else None for row in rows}
    if len(targets) == 1 and (target := targets.pop()) and target[0] == "message":
        return {"conversation_id": str(target[1])}
    return {"notification_ids": ",".join(map(str, ids))}


def pushes_sent() -> DeliveryQuerySet:
    """Pushes about notifications that were sent, or are being sent."""
    return Delivery.objects.filter(kind__in=KINDS, state__in=(State.SENT, State.LEASED))


def _waiting(device_ids: Collection[int]) -> dict[int, Delivery]:
    """Locks the deliveries that no worker has claimed since they were written, and returns them by device."""
    keys = [_open_key(device_id) for device_id in device_ids]
    rows = Delivery.objects.select_for_update(no_key=True).filter(dedupe_key__in=keys).order_by("id")
    return {row.device_id: row for row in rows if row.device_id is not None}


def _open_key(device_id: int) -> str:
    """A claim closes the key (`claims.claim`), so that later reads get a delivery of their own."""
    return f"{READ}:{device_id}:open"
