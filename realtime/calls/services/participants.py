"""A locked call for one participant, with which every command starts, and the announcement of its changes in both users'
logs, on the bound sockets, and by push.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.media import media_path
from accounts.selectors import users_by_ids
from core.text import json_time
from notifications.services import delivery
from realtime import groups
from realtime.calls.models import Call, CallParticipant
from realtime.calls.selectors import call_for
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import SocketRef
from realtime.models import Socket
from realtime.services import log
from realtime.services.sockets import sweep_seconds


@dataclass
class LockedCall:
    call: Call
    mine: CallParticipant
    other: CallParticipant

    @property
    def is_caller(self) -> bool:
        return self.call.caller_id == self.mine.user_id

    def require_state(self, *states: str) -> None:
        """CallConflict unless the call is in one of these states."""
        if self.call.state not in states:
            raise CallConflict

    def require_bound(self, device: SocketRef) -> None:
        """CallConflict unless this socket is bound to the participant.

        A new socket of the bound session replaces one that has closed, or that `note_closed` has assumed.
        """
        if not device.socket_id:
            raise CallConflict
        if device.socket_id == self.mine.socket_id:
            return
        is_assumed = self.call.state == Call.State.ACTIVE and self.mine.connected_at is None
        if device.session_id != self.mine.session_id or (open_sockets([self.mine]) and not is_assumed):
            raise CallConflict
        bind(self.mine, device)


def lock_call_for(*, user_id: int, call_id: object) -> LockedCall:
    """The locked call for this participant. NotFound for other users and for ids that do not exist.

    CallConflict when the deadline has passed: the call counts as ended.
    """
    call = call_for(user_id, call_id, lock=True)
    if call.state in (Call.State.RINGING, Call.State.CONNECTING) and call.expires_at <= timezone.now():
        raise CallConflict
    participants = {participant.user_id: participant for participant in call.participants.all()}
    return LockedCall(call=call, mine=participants[user_id], other=participants[call.other_id(user_id)])


def bind(participant: CallParticipant, device: SocketRef) -> None:
    """Binds this socket to the participant, in place of any other. Also saves the client_id that the caller has set."""
    participant.session_id = device.session_id
    participant.socket_id = device.socket_id
    participant.gone_at = None
    participant.save(update_fields=["session_id", "socket_id", "gone_at", "client_id"])


def new_device_of(call: Call, participant: CallParticipant) -> SocketRef | None:
    """The newest open socket of the bound session, if it is new: an older one is another tab, which is not in the call.

    So is one that was open when the participant invited or accepted.
    """
    sockets = Socket.objects.filter(session_id=participant.session_id, user_id=participant.user_id)
    joined_at = call.created_at if participant.user_id == call.caller_id else call.answered_at or call.created_at
    since = max(joined_at, timezone.now() - timedelta(seconds=conf.CALL_LOST_SECONDS))
    newest = sockets.exclude(id=participant.socket_id).filter(opened_at__gte=since).order_by("opened_at").last()
    return None if newest is None else SocketRef(newest.session_id, newest.id)


def open_sockets(participants: Iterable[CallParticipant]) -> set[str]:
    """The bound sockets that are open: not closed, and touched recently by their process."""
    fresh = timezone.now() - _dead_after()
    fresh_sockets = Socket.objects.filter(id__in=_not_closed(participants), seen_at__gte=fresh)
    return set(fresh_sockets.values_list("id", flat=True))


def alive_until(participants: Iterable[CallParticipant]) -> datetime | None:
    """The deadline of an active call: counted from the last time that a bound socket was seen open.

    None if there is no such time.
    """
    participants = list(participants)
    lost = timedelta(seconds=conf.CALL_LOST_SECONDS)
    deadlines = [participant.gone_at + lost for participant in participants if participant.gone_at is not None]
    # A process with a long sweep interval must not count as dead.
    grace = max(lost, _dead_after())
    seen_times = Socket.objects.filter(id__in=_not_closed(participants)).values_list("seen_at", flat=True)
    return max([*deadlines, *(seen_at + grace for seen_at in seen_times)], default=None)


def _not_closed(participants: Iterable[CallParticipant]) -> list[str]:
    return [
        participant.socket_id for participant in participants if participant.socket_id and participant.gone_at is None
    ]


def _dead_after() -> timedelta:
    """A socket that its process has not touched for this long counts as closed."""
    return timedelta(seconds=2.5 * sweep_seconds())


def announce(call: Call) -> None:
    """Appends `call.updated` to the logs of both users, as part of the open unit of work."""
    for user_id in sorted((call.caller_id, call.callee_id)):
        log.append(user_id=user_id, type="call.updated", conversation_id=call.conversation_id, object_id=call.id)


def send_to_socket(participant: CallParticipant, type: str, data: dict[str, Any]) -> None:
    """Sends an ephemeral frame to the bound socket of one participant, after the unit of work is committed.

    It is not droppable: a call cannot connect without every candidate.
    """
    if not participant.socket_id:
        return
    frame = {"type": type, "data": data}
    send = partial(groups.send_frame, participant.user_id, frame, only=participant.socket_id, droppable=False)
    transaction.on_commit(send, robust=True)


def push_incoming(call: Call) -> None:
    """Sends a data-only push to the callee's devices without an open socket; every value is text.

    In quiet mode, too: then the delivery adds `quiet`, and the app makes no sound.
    """
    caller = users_by_ids([call.caller_id])[call.caller_id]
    delivery.enqueue_call_push(
        recipient_id=call.callee_id,
        data={
            "type": "incoming_call",
            "call_id": str(call.id),
            "conversation_id": str(call.conversation_id),
            "caller_id": str(call.caller_id),
            "caller_name": caller.display_name,
            "caller_avatar_url": media_path(caller.avatar_token) if caller.avatar_token else "",
            "media": call.media,
            "expires_at": json_time(call.expires_at),
        },
        expires_at=call.expires_at,
    )


def push_ended(call: Call) -> None:
    delivery.enqueue_call_push(
        recipient_id=call.callee_id,
        data={"type": "call_ended", "call_id": str(call.id), "outcome": call.outcome},
        expires_at=call.expires_at,
    )
