"""The delivery handler of pushes: checks again, renders in the recipient's language, sends."""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.selectors import signed_in_sessions
from core.languages import supported_language
from notifications.channels import Outcome, PushChannel, push_channel
from notifications.conf import conf
from notifications.kinds import CALL_KINDS, READ
from notifications.models import Delivery, Device
from notifications.selectors import quiet_ids, unread_counts
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.push_messages import (
    call_message,
    notification_message,
    push_contents,
    read_message,
    test_message,
)
from notifications.services.delivery.read_elsewhere import last_read_pushes, to_take_away
from notifications.services.delivery.sending import DeliveryHandler, Job


class SocketStatus(StrEnum):
    """Whether a device has an open socket, and has acknowledged there what a push would announce."""

    ABSENT = auto()
    CONNECTED = auto()
    SEEN = auto()


class SocketStatusQuery(NamedTuple):
    """Has a socket of this user's session acknowledged the events written at `since`?"""

    user_id: int
    session_id: int
    since: datetime


# One status per query, in order: SEEN when a socket of the session acknowledged everything that
# was written for the user up to `since`, CONNECTED when one is open that has not yet, else ABSENT.
Statuses = Callable[[Sequence[SocketStatusQuery]], Sequence[SocketStatus]]

_statuses: Statuses | None = None


def register_socket_statuses(statuses: Statuses | None) -> None:
    """Registers the function in every process that sends pushes. It must be fast and may fail.

    This app may not import realtime, which registers it when the process starts; until then no device counts as
    connected.
    """
    global _statuses
    _statuses = statuses


log = logging.getLogger(__name__)

# How long to wait for the result of a push that was being sent while its notification was read.
_BEING_SENT = timedelta(seconds=1)

State = Delivery.State


class PushHandler(DeliveryHandler):
    def __init__(self) -> None:
        self._channel: PushChannel | None = None

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        # Opened when first needed, because wrong credentials must stop pushes but not mail.
        if self._channel is None:
            self._channel = push_channel()
        if self._channel is None:
            return [row.result(State.CANCELLED, "push is switched off") for row in rows]
        return _Batch(rows).prepare(rows)

    def send(self, job: Job) -> Outcome:
        assert self._channel is not None
        return self._channel.send(job.message)


class _Batch:
    """The data that a batch of rows needs, read in a few queries."""

    def __init__(self, rows: Sequence[Claimed]) -> None:
        self.now = timezone.now()
        self.devices = _targets({row.device_id for row in rows if row.device_id})

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        prepared: list[Job | DeliveryResult] = []
        preparations = {"test": self._prepare_tests, READ: self._prepare_reads}
        preparations |= dict.fromkeys(CALL_KINDS, self._prepare_calls)
        rows_by_preparation: dict[Any, list[Claimed]] = defaultdict(list)
        for row in rows:
            if reason := self._refusal(row):
                prepared.append(row.result(State.CANCELLED, reason))
            else:
                rows_by_preparation[preparations.get(row.kind, self._prepare_notifications)].append(row)
        for prepare, own in rows_by_preparation.items():
            prepared += prepare(own)
        return prepared

    def _refusal(self, row: Claimed) -> str:
        """The reason not to send this push to this device, or an empty string."""
        device = self.devices.get(row.device_id or 0)
        if device is None:
            return "the device is gone"
        if not device.active:
            return "the device is switched off"
        if device.user_id != row.recipient_id:
            return "the token moved to another person"
        if not device.is_signed_in:
            return "the sign-in has ended"
        if not device.is_owner_active:
            return "the account is blocked"
        return ""

    def _prepare_tests(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        badges = unread_counts(row.recipient_id for row in rows if row.recipient_id)

        def job(row: Claimed) -> Job:
            device = self._device(row)
            badge = badges.get(device.user_id, 0)
            return Job(row, test_message(device.token, device.platform, language=device.language, badge=badge))

        return [job(row) for row in rows]

    def _prepare_reads(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        taken_away = to_take_away(rows)
        badges = unread_counts(row.recipient_id for row in rows if row.recipient_id)
        socket_statuses = self._socket_statuses(rows)
        last_pushes = last_read_pushes((row.device_id or 0 for row in rows), but=[row.id for row in rows])
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            device, data = self._device(row), taken_away[row.id]
            last_push = _LastPush(last_pushes[device.id], {}) if device.id in last_pushes else None
            if data is None:
                prepared.append(row.unchanged(due_at=self.now + _BEING_SENT))
            elif not data:
                prepared.append(row.result(State.CANCELLED, "nothing to take away"))
            elif skipped := self._skip_or_delay(row, socket_statuses[row.id], last_push, row.payload):
                prepared.append(skipped)
            else:
                # If two wait after an outage, the second one is sent a minute later.
                last_pushes[device.id] = self.now
                message = read_message(device.token, device.platform, data, badge=badges.get(device.user_id, 0))
                prepared.append(Job(row, message, row.payload))
        return prepared

    def _prepare_calls(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        quiet = quiet_ids(row.recipient_id for row in rows if row.recipient_id)
        ringing = {row.group_key for row in rows if row.kind == "incoming_call"}
        ended = Delivery.objects.filter(kind="call_ended", group_key__in=ringing)
        over = set(ended.values_list("device_id", "group_key"))
        socket_statuses = self._socket_statuses(rows)
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            if row.kind == "incoming_call" and (row.device_id, row.group_key) in over:
                prepared.append(row.result(State.CANCELLED, "the call is over"))
            elif row.kind == "incoming_call" and socket_statuses[row.id] == SocketStatus.SEEN:
                prepared.append(row.result(State.CANCELLED, "seen on the socket"))
            else:
                device, is_quiet = self._device(row), row.recipient_id in quiet
                times = {"expires_at": row.expires_at, "now": self.now}
                message = call_message(device.token, device.platform, row.payload["data"], quiet=is_quiet, **times)
                prepared.append(Job(row, message))
        return prepared

    def _prepare_notifications(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        languages = {row.id: self._device(row).language for row in rows}
        contents = push_contents((row.notification_id, languages[row.id]) for row in rows if row.notification_id)
        badges = unread_counts(content.recipient_id for content in contents.values())
        socket_statuses = self._socket_statuses(rows)
        last_pushes = _last_pushes(rows)
        sent_groups: set[tuple[int | None, int | None]] = set()
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            content = contents.get((row.notification_id or 0, languages[row.id]))
            if content is None:
                prepared.append(row.result(State.CANCELLED, "read, withdrawn or not wanted by now"))
                continue
            sent_payload = {"count": content.count, "at": content.occurred_at.isoformat()}
            group = (row.device_id, row.notification_id)
            skipped = self._skip_or_delay(row, socket_statuses[row.id], last_pushes.get(group), sent_payload)
            if skipped is not None:
                prepared.append(skipped)
            elif group in sent_groups:
                # After an outage several deliveries of one group wait, and all of them would send this content.
                prepared.append(row.result(State.CANCELLED, "another push says the same"))
            else:
                sent_groups.add(group)
                device, badge = self._device(row), badges.get(content.recipient_id, 0)
                message = notification_message(device.token, device.platform, content, badge=badge)
                prepared.append(Job(row, message, sent_payload))
        return prepared

    def _skip_or_delay(
        self,
        row: Claimed,
        status: SocketStatus,
        last_push: "_LastPush | None",
        sent_payload: dict[str, Any],
    ) -> DeliveryResult | None:
        """The result of a push that is not sent now: it was seen on the socket, has nothing new, or is too early."""
        if status == SocketStatus.SEEN:
            return row.result(State.CANCELLED, "seen on the socket")
        if last_push is not None and last_push.payload == sent_payload:
            return row.result(State.CANCELLED, "nothing new since the last push")
        if status == SocketStatus.CONNECTED:
            socket_deadline = row.touched_at + timedelta(seconds=conf.PUSH_SOCKET_SECONDS)
            if socket_deadline > self.now:
                return row.unchanged(due_at=socket_deadline)
        if last_push is not None:
            next_push_at = last_push.sent_at + timedelta(seconds=conf.PUSH_GROUP_SECONDS)
            if next_push_at > self.now:
                return row.unchanged(due_at=next_push_at)
        return None

    def _socket_statuses(self, rows: Sequence[Claimed]) -> dict[int, SocketStatus]:
        queries = [
            SocketStatusQuery(row.recipient_id or 0, self._device(row).session_id, row.touched_at) for row in rows
        ]
        statuses: Sequence[SocketStatus] = [SocketStatus.ABSENT] * len(rows)
        try:
            if _statuses is not None:
                statuses = _statuses(queries)
        except Exception:
            log.exception("The socket status is unknown; pushes are sent as if no socket were open.")
        return {row.id: status for row, status in zip(rows, statuses, strict=True)}

    def _device(self, row: Claimed) -> "_Target":
        return self.devices[row.device_id or 0]


class _LastPush(NamedTuple):
    sent_at: datetime
    payload: dict[str, Any]


def _last_pushes(rows: Sequence[Claimed]) -> dict[tuple[int | None, int | None], _LastPush]:
    """The last push to each device about each of these notifications."""
    # An unread group may have a push for every minute of the log, so only the last one is read.
    of_group = Delivery.objects.filter(device=OuterRef("device"), notification=OuterRef("notification"))
    newest_first = of_group.filter(state=State.SENT).order_by("-finished_at")
    last_ids = Delivery.objects.filter(id__any={row.id for row in rows}).values(last_id=newest_first.values("id")[:1])
    columns = Delivery.objects.filter(id__in=last_ids).values_list(
        "device_id", "notification_id", "finished_at", "payload"
    )
    return {
        (device_id, notification_id): _LastPush(finished_at, payload)
        for device_id, notification_id, finished_at, payload in columns
        if finished_at is not None
    }


class _Target(NamedTuple):
    """A device, with the status of its owner and session, which decide whether it gets pushes."""

    id: int
    user_id: int
    active: bool
    token: str
    platform: str
    locale: str
    owner_language: str
    session_id: int
    is_signed_in: bool
    is_owner_active: bool

    @property
    def language(self) -> str:
        return supported_language(self.locale, self.owner_language)


def _targets(ids: set[int]) -> dict[int, _Target]:
    rows = Device.objects.filter(id__any=ids).values_list(
        "id",
        "user_id",
        "active",
        "registration_id",
        "type",
        "locale",
        "user__language",
        "session_id",
        Exists(signed_in_sessions().filter(id=OuterRef("session_id"))),
        Exists(get_user_model().objects.active().filter(id=OuterRef("user_id"))),
    )
    return {values[0]: _Target(*values) for values in rows}
