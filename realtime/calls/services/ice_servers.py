"""The ICE servers of a call, for one of its participants."""

from typing import TYPE_CHECKING, Any

from realtime.calls.models import Call
from realtime.calls.services import turn
from realtime.calls.services.ending import end_overdue_of
from realtime.calls.services.participants import call_of
from realtime.exceptions import CallConflict

if TYPE_CHECKING:
    from accounts.models import User


def ice_servers(*, actor: "User", call_id: object) -> dict[str, Any]:
    """`ice_servers` and `ice_transport_policy` of a live call. NotFound, CallConflict once it has ended."""
    end_overdue_of(user_id=actor.id)
    call = call_of(actor.id, call_id)
    if call.state == Call.State.ENDED:
        raise CallConflict
    return ice_for(actor=actor, call=call)


def ice_for(*, actor: "User", call: Call) -> dict[str, Any]:
    """The same for a call already checked to be the actor's; no servers for an ended one."""
    route = turn.ice(label=f"{actor.id}:{call.id}", relay_only=actor.relay_calls)
    return route | {"ice_servers": []} if call.state == Call.State.ENDED else route
