"""The state of a call. Every command starts by locking it for one participant. Changes are announced in both users'
logs and on the bound sockets. A call ends by a command, at its deadline, with the bound session, a block or an account.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from core.database.transactions import unit_of_work
from messaging.exceptions import ConversationNotFound
from messaging.services import messages
from notifications.services import delivery
from realtime.calls.models import Call, CallParticipant
from realtime.calls.selectors import call_for
from realtime.calls.services import connections
from realtime.calls.signals import call_ended
from realtime.conf import conf
from realtime.devices import Device
from realtime.exceptions import CallConflict
from realtime.services import event_log

OUTCOME_AT_DEADLINE = {
    Call.State.RINGING: Call.Outcome.MISSED,
    Call.State.CONNECTING: Call.Outcome.FAILED,
    Call.State.ACTIVE: Call.Outcome.LOST,
}

# The most overdue calls that one sweep ends.
MAX_ENDED = 100

# The callee has missed a call with one of these outcomes.
MISSED = (Call.Outcome.MISSED, Call.Outcome.CANCELED, Call.Outcome.BUSY)


# --- A locked call ---------------------------------------------------------------------------------


@dataclass
class LockedCall:
    call: Call
    mine: CallParticipant
    other: CallParticipant

    @property
    def is_caller(self) -> bool:
        return self.call.caller_id == self.mine.user_id

    def require_bound(self, device: Device) -> None:
        """CallConflict unless this socket is bound to the participant.

        A new socket of the bound session replaces one that has closed, or that was assumed.
        """
        if not device.socket_id:
            raise CallConflict
        is_assumed = self.call.state == Call.State.ACTIVE and self.mine.connected_at is None
        if device.socket_id != self.mine.socket_id:
            if device.session_id != self.mine.session_id or (connections.is_any_open(self.mine) and not is_assumed):
                raise CallConflict
            bind(self.mine, device)
        if is_assumed:
            self.mine.connected_at = timezone.now()
            self.mine.save(update_fields=["connected_at"])


@contextmanager
def locked_call(*states: Call.State, user_id: int, call_id: object) -> Iterator[LockedCall]:
    """The locked call in a unit of work. CallConflict unless it is in one of these states; otherwise as
    `lock_call_for`."""
    end_overdue_of(user_id=user_id)
    with unit_of_work():
        locked = lock_call_for(user_id=user_id, call_id=call_id)
        if locked.call.state not in states:
            raise CallConflict
        yield locked


def lock_call_for(*, user_id: int, call_id: object) -> LockedCall:
    """The locked call for this participant. NotFound for other users and for ids that do not exist.

    CallConflict when the deadline has passed: the call counts as ended.
    """
    call = call_for(user_id, call_id, lock=True)
    if call.state in (Call.State.RINGING, Call.State.CONNECTING) and call.expires_at <= timezone.now():
        raise CallConflict
    participants = {participant.user_id: participant for participant in call.participants.all()}
    return LockedCall(call=call, mine=participants[user_id], other=participants[call.other_id(user_id)])


# --- The bound sockets -----------------------------------------------------------------------------


def bind(participant: CallParticipant, device: Device) -> None:
    """Binds this socket to the participant, in place of any other. Also saves the client_id that the caller has set."""
    participant.session_id = device.session_id
    participant.socket_id = device.socket_id
    participant.gone_at = None
    participant.save(update_fields=["session_id", "socket_id", "gone_at", "client_id"])


def take_over(call: Call, participant: CallParticipant, device: Device) -> None:
    """Binds another socket of the bound session. In an active call that may be another tab, which the browser connected
    first. The socket that sends a command is the right one."""
    if call.state == Call.State.ACTIVE:
        participant.connected_at = None
        participant.save(update_fields=["connected_at"])
    bind(participant, device)


def new_device_of(call: Call, participant: CallParticipant, since: datetime) -> Device | None:
    """The newest socket of the bound session that has opened since then. An older one is another tab, which is not in
    the call.

    So is a socket that was open when the participant invited or accepted.
    """
    joined_at = call.created_at if participant.user_id == call.caller_id else call.answered_at or call.created_at
    return connections.newest_other(participant, since=max(joined_at, since))


# --- What the users learn --------------------------------------------------------------------------


def announce(call: Call) -> None:
    """Appends `call.updated` to the logs of both users, as part of the open unit of work."""
    for user_id in (call.caller_id, call.callee_id):
        event_log.append(user_id=user_id, type="call.updated", conversation_id=call.conversation_id, object_id=call.id)


def record(call: Call) -> None:
    """Adds the message of an ended call to the conversation, if that still exists."""
    with suppress(ConversationNotFound):
        messages.send_call_message(
            conversation_id=call.conversation_id,
            caller_id=call.caller_id,
            call_id=call.id,
            media=call.media,
            outcome=call.outcome,
            duration_s=call.duration_s,
            counts_as_unread=call.outcome in MISSED,
        )


# --- The end ---------------------------------------------------------------------------------------


def end(call: Call, outcome: str, *, at: datetime | None = None) -> None:
    """Ends a locked call inside the open unit of work: state, call message, pushes and events."""
    call.state = Call.State.ENDED
    call.outcome = outcome
    call.ended_at = at or timezone.now()
    call.save(update_fields=["state", "outcome", "ended_at"])
    CallParticipant.objects.filter(call_id=call.id).update(live=False)
    record(call)
    delivery.enqueue_call_push(
        recipient_id=call.callee_id,
        data={"type": "call_ended", "call_id": str(call.id), "outcome": call.outcome},
        expires_at=call.expires_at,
    )
    announce(call)
    call_ended.send(Call, call=call)


def end_overdue() -> int:
    """Ends calls whose deadline has passed, each in its own transaction; returns how many.

    Safe in several processes at once: a call that another process has locked is skipped.
    """
    overdue = Call.objects.overdue()
    return _end_overdue(list(overdue.order_by("expires_at").values_list("id", flat=True)[:MAX_ENDED]), wait=False)


def end_overdue_of(*, user_id: int) -> int:
    """The same for the calls of one user, before the user reads or changes one."""
    overdue = Call.objects.overdue().of(user_id)
    return _end_overdue(list(overdue.values_list("id", flat=True)), wait=True)


def _end_overdue(ids: Iterable[int], *, wait: bool) -> int:
    ended = 0
    for call_id in ids:
        with unit_of_work():
            call = Call.objects.overdue().select_for_update(skip_locked=not wait).filter(id=call_id).first()
            if call is not None and not _extend_if_alive(call):
                end(call, OUTCOME_AT_DEADLINE[Call.State(call.state)], at=call.expires_at)
                ended += 1
    return ended


def _extend_if_alive(call: Call) -> bool:
    """Extends the deadline of an active call, counted from the last time that a bound socket was open. Returns whether
    it is in the future now."""
    if call.state != Call.State.ACTIVE:
        return False
    participants = list(call.participants.all())
    _replace_dead_sockets(call, participants)
    lost = timedelta(seconds=conf.CALL_LOST_SECONDS)
    deadlines = [participant.gone_at + lost for participant in participants if participant.gone_at is not None]
    # A process with a long sweep interval must not count as dead.
    grace = max(lost, connections.dead_after())
    seen_times = connections.last_seen(*participants).values()
    until = max([*deadlines, *(seen_at + grace for seen_at in seen_times)], default=call.expires_at)
    if until <= timezone.now():
        return False
    call.expires_at = until
    call.save(update_fields=["expires_at"])
    return True


def _replace_dead_sockets(call: Call, participants: Iterable[CallParticipant]) -> None:
    """The close of a socket whose process was killed is never recorded. The socket with which its device came back
    replaces it."""
    for participant in participants:
        if connections.is_any_open(participant):
            continue
        seen_at = connections.last_seen(participant).get(participant.socket_id)
        device = None if seen_at is None else new_device_of(call, participant, seen_at)
        if device is not None:
            take_over(call, participant, device)
            announce(call)


def end_of_sessions(*, user_id: int, session_ids: Iterable[int]) -> None:
    """The bound session has ended, so the device cannot rejoin: the call ends."""
    bound = CallParticipant.objects.live_of(user_id).filter(session_id__in=list(session_ids))
    _leave_all(bound, user_id)


def end_between(*, user_id: int, other_id: int) -> None:
    """One participant has blocked the other, which ends the answered call. A ringing call is refused when it is
    answered."""
    with unit_of_work():
        # A ringing call is locked, too, because it may be answered at this moment.
        for call in Call.objects.not_ended().of(user_id).of(other_id).select_for_update().order_by("id"):
            if call.state != Call.State.RINGING:
                end(call, Call.Outcome.COMPLETED)


def erase_of(*, user_id: int) -> None:
    """Ends the live calls of an account that is being erased and clears its devices. The other user keeps the call
    history."""
    with unit_of_work():
        _leave_all(CallParticipant.objects.live_of(user_id), user_id)
        participants = CallParticipant.objects.filter(user_id=user_id)
        participants.update(session_id=None, socket_id="", connected_at=None, gone_at=None)


def _leave_all(participants: Iterable[CallParticipant], user_id: int) -> None:
    """Ends live calls because this user leaves; the outcome follows from state and role."""
    ids = [participant.call_id for participant in participants]
    if not ids:
        return
    with unit_of_work():
        for call in Call.objects.not_ended().select_for_update().filter(id__in=ids).order_by("id"):
            if call.state != Call.State.RINGING:
                end(call, Call.Outcome.COMPLETED)
            elif user_id == call.caller_id:
                end(call, Call.Outcome.CANCELED)
            else:
                end(call, Call.Outcome.DECLINED)
