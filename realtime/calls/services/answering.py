"""Commands for a ringing call: ringing, accept, decline, cancel."""

from datetime import timedelta

from django.utils import timezone

from accounts.exceptions import UserBlocked
from accounts.selectors import blocked_either_way
from core.transactions import unit_of_work
from realtime.calls.models import Call
from realtime.calls.services.announcing import announce, send_to_socket
from realtime.calls.services.ending import end, end_overdue_of
from realtime.calls.services.participants import LockedCall, bind, lock_call_for
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import SocketRef


def ringing(*, user_id: int, call_id: object) -> Call:
    """A device of the callee rings: notifies the caller's device. Changes no state."""
    end_overdue_of(user_id=user_id)
    with unit_of_work():
        locked = _lock_ringing(user_id, call_id, as_caller=False)
        send_to_socket(locked.other, "call.ringing", {"call_id": locked.call.id})
    return locked.call


def accept(*, user_id: int, device: SocketRef, call_id: object) -> Call:
    """Binds the callee's device that answers first. UserBlocked after a block."""
    end_overdue_of(user_id=user_id)
    with unit_of_work():
        locked = _lock_ringing(user_id, call_id, as_caller=False)
        if blocked_either_way(locked.mine.user_id, locked.other.user_id):
            raise UserBlocked
        answer(locked, device)
    return locked.call


def decline(*, user_id: int, call_id: object, reason: str = "declined") -> Call:
    """The callee declines from any device while the call rings. CallConflict later."""
    end_overdue_of(user_id=user_id)
    with unit_of_work():
        locked = _lock_ringing(user_id, call_id, as_caller=False)
        end(locked.call, Call.Outcome(reason))
    return locked.call


def cancel(*, user_id: int, call_id: object) -> Call:
    """The caller cancels from any device before the call is answered."""
    end_overdue_of(user_id=user_id)
    with unit_of_work():
        locked = _lock_ringing(user_id, call_id, as_caller=True)
        end(locked.call, Call.Outcome.CANCELED)
    return locked.call


def answer(locked: LockedCall, device: SocketRef) -> None:
    """Changes the state from ringing to connecting, inside the open unit of work."""
    bind(locked.mine, device)
    now = timezone.now()
    locked.call.state = Call.State.CONNECTING
    locked.call.answered_at = now
    locked.call.expires_at = now + timedelta(seconds=conf.CALL_CONNECT_SECONDS)
    locked.call.save(update_fields=["state", "answered_at", "expires_at"])
    announce(locked.call)


def _lock_ringing(user_id: int, call_id: object, *, as_caller: bool) -> LockedCall:
    locked = lock_call_for(user_id=user_id, call_id=call_id)
    locked.require_state(Call.State.RINGING)
    if locked.is_caller is not as_caller:
        raise CallConflict
    return locked
