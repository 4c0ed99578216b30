"""Ends calls: by a command, at the deadline, with the bound session, with a block, with an account."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from core.transactions import unit_of_work
from messaging.exceptions import ConversationNotFound
from messaging.services import messages
from realtime.calls.models import Call, CallParticipant
from realtime.calls.services.participants import alive_until, announce, push_ended

OUTCOME_AT_DEADLINE = {
    Call.State.RINGING: Call.Outcome.MISSED,
    Call.State.CONNECTING: Call.Outcome.FAILED,
    Call.State.ACTIVE: Call.Outcome.LOST,
}

# The most overdue calls that one sweep ends.
MAX_ENDED = 100

# For the callee each of these is a missed call.
MISSED = (Call.Outcome.MISSED, Call.Outcome.CANCELED, Call.Outcome.BUSY)


def end(call: Call, outcome: str, *, at: datetime | None = None) -> None:
    """Ends a locked call inside the open unit of work: state, call message, events and pushes."""
    call.state = Call.State.ENDED
    call.outcome = outcome
    call.ended_at = at or timezone.now()
    call.save(update_fields=["state", "outcome", "ended_at"])
    CallParticipant.objects.filter(call_id=call.id).update(live=False)
    record(call)
    push_ended(call)
    announce(call)


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
    """Extends the deadline of an active call while a bound socket is open; returns whether it did."""
    if call.state != Call.State.ACTIVE:
        return False
    until = alive_until(call.participants.all())
    if until is None or until <= timezone.now():
        return False
    call.expires_at = until
    call.save(update_fields=["expires_at"])
    return True


def leave_call(call: Call, user_id: int) -> None:
    """Ends a locked live call because this user leaves; the outcome follows from state and role."""
    if call.state != Call.State.RINGING:
        end(call, Call.Outcome.COMPLETED)
    elif user_id == call.caller_id:
        end(call, Call.Outcome.CANCELED)
    else:
        end(call, Call.Outcome.DECLINED)


def end_of_sessions(*, user_id: int, session_ids: Iterable[int]) -> None:
    """The bound session has ended, so the device cannot rejoin: the call ends."""
    bound = CallParticipant.objects.live_of(user_id).filter(session_id__in=list(session_ids))
    _leave_all(bound, user_id)


def end_between(*, user_id: int, other_id: int) -> None:
    """One participant has blocked the other: ends the answered call. A ringing call is refused when it is answered."""
    with unit_of_work():
        pair = Q(caller_id=user_id, callee_id=other_id) | Q(caller_id=other_id, callee_id=user_id)
        # A ringing one is locked, too: it may be answered right now.
        for call in Call.objects.not_ended().select_for_update().filter(pair).order_by("id"):
            if call.state != Call.State.RINGING:
                leave_call(call, user_id)


def erase_of(*, user_id: int) -> None:
    """An account is being erased: ends live calls and clears its devices. The other user keeps the call history."""
    with unit_of_work():
        _leave_all(CallParticipant.objects.live_of(user_id), user_id)
        participants = CallParticipant.objects.filter(user_id=user_id)
        participants.update(session_id=None, socket_id="", connected_at=None, gone_at=None)


def _leave_all(participants: Iterable[CallParticipant], user_id: int) -> None:
    ids = [participant.call_id for participant in participants]
    if not ids:
        return
    with unit_of_work():
        live = Call.objects.not_ended().select_for_update().filter(id__in=ids)
        for call in live.order_by("id"):
            leave_call(call, user_id)
