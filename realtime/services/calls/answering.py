"""Commands for a ringing call: ringing, accept, decline, cancel."""

from datetime import timedelta

from django.utils import timezone

from accounts.exceptions import UserBlocked
from accounts.selectors import blocked_either_way
from core.transactions import unit_of_work
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import SocketRef
from realtime.models import Call
from realtime.services.calls.announcing import announce, tell
from realtime.services.calls.ending import end, settle_due_of
from realtime.services.calls.participants import Seat, bind, seat_for


def ringing(*, user_id: int, call_id: object) -> Call:
    """A device of the callee rings: notifies the caller's device. Changes no state."""
    settle_due_of(user_id=user_id)
    with unit_of_work():
        seat = _ringing_seat(user_id, call_id, as_caller=False)
        tell(seat.other, "call.ringing", {"call_id": seat.call.id})
    return seat.call


def accept(*, user_id: int, device: SocketRef, call_id: object) -> Call:
    """Binds the callee's device that answers first. UserBlocked after a block."""
    settle_due_of(user_id=user_id)
    with unit_of_work():
        seat = _ringing_seat(user_id, call_id, as_caller=False)
        if blocked_either_way(seat.mine.user_id, seat.other.user_id):
            raise UserBlocked
        answer(seat, device)
    return seat.call


def decline(*, user_id: int, call_id: object, reason: str = "declined") -> Call:
    """The callee declines from any device while the call rings. CallConflict later."""
    settle_due_of(user_id=user_id)
    with unit_of_work():
        seat = _ringing_seat(user_id, call_id, as_caller=False)
        end(seat.call, Call.Outcome(reason))
    return seat.call


def cancel(*, user_id: int, call_id: object) -> Call:
    """The caller cancels from any device before the call is answered."""
    settle_due_of(user_id=user_id)
    with unit_of_work():
        seat = _ringing_seat(user_id, call_id, as_caller=True)
        end(seat.call, Call.Outcome.CANCELED)
    return seat.call


def answer(seat: Seat, device: SocketRef) -> None:
    """Changes the state from ringing to connecting, inside the open unit of work."""
    bind(seat.mine, device)
    now = timezone.now()
    seat.call.state = Call.State.CONNECTING
    seat.call.answered_at = now
    seat.call.expires_at = now + timedelta(seconds=conf.CALL_CONNECT_SECONDS)
    seat.call.save(update_fields=["state", "answered_at", "expires_at"])
    announce(seat.call)


def _ringing_seat(user_id: int, call_id: object, *, as_caller: bool) -> Seat:
    seat = seat_for(user_id=user_id, call_id=call_id)
    seat.must_be(Call.State.RINGING)
    if seat.is_caller is not as_caller:
        raise CallConflict
    return seat
