"""A locked call for one participant: every command starts here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from core.conf import project
from core.exceptions import NotFound
from core.fields import parse_id
from realtime.calls.models import Call, CallParty
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import SocketRef
from realtime.models import Socket


@dataclass
class LockedCall:
    call: Call
    mine: CallParty
    other: CallParty

    @property
    def is_caller(self) -> bool:
        return self.call.caller_id == self.mine.user_id

    def require_state(self, *states: str) -> None:
        """CallConflict unless the call is in one of these states."""
        if self.call.state not in states:
            raise CallConflict

    def require_bound(self, device: SocketRef) -> None:
        """CallConflict unless this socket is bound to the participant.

        A new socket of the bound session replaces one that has closed.
        """
        if not device.socket_id:
            raise CallConflict
        if device.socket_id == self.mine.socket_id:
            return
        if device.session_id != self.mine.session_id or open_sockets([self.mine]):
            raise CallConflict
        bind(self.mine, device)


def lock_call_for(*, user_id: int, call_id: object) -> LockedCall:
    """The locked call for this participant. NotFound for other users and for ids that do not exist.

    CallConflict when the deadline has passed: the call counts as ended.
    """
    call = call_of(user_id, call_id, lock=True)
    if call.state in (Call.State.RINGING, Call.State.CONNECTING) and call.expires_at <= timezone.now():
        raise CallConflict
    parties = {party.user_id: party for party in call.parties.all()}
    other_id = call.callee_id if user_id == call.caller_id else call.caller_id
    return LockedCall(call=call, mine=parties[user_id], other=parties[other_id])


def call_of(user_id: int, call_id: object, *, lock: bool = False) -> Call:
    """The call with that id if this user is a participant. NotFound."""
    calls = Call.objects.of(user_id).filter(id=parse_id(call_id))
    found = (calls.select_for_update() if lock else calls).first()
    if found is None:
        raise NotFound
    return found


def bind(party: CallParty, device: SocketRef) -> None:
    """Binds this socket to the participant, in place of any other."""
    party.session_id = device.session_id
    party.socket_id = device.socket_id
    party.gone_at = None
    party.save(update_fields=["session_id", "socket_id", "gone_at"])


def open_sockets(parties: Iterable[CallParty]) -> set[str]:
    """The bound sockets that are open: not closed, and touched recently by their process."""
    fresh = timezone.now() - _silence()
    found = Socket.objects.filter(id__in=_not_closed(parties), seen_at__gte=fresh)
    return set(found.values_list("id", flat=True))


def alive_until(parties: Iterable[CallParty]) -> datetime | None:
    """The deadline of an active call: counted from the last time that a bound socket was seen open.

    None if there is no such time.
    """
    parties = list(parties)
    lost = timedelta(seconds=conf.CALL_LOST_SECONDS)
    moments = [party.gone_at + lost for party in parties if party.gone_at is not None]
    # A process with a long sweep interval must not count as dead.
    patience = max(lost, _silence())
    seen = Socket.objects.filter(id__in=_not_closed(parties)).values_list("seen_at", flat=True)
    return max([*moments, *(moment + patience for moment in seen)], default=None)


def _not_closed(parties: Iterable[CallParty]) -> list[str]:
    return [party.socket_id for party in parties if party.socket_id and party.gone_at is None]


def _silence() -> timedelta:
    """A socket that its process has not touched for this long counts as closed."""
    every = conf.SWEEP_SECONDS if project.REDIS_URL else conf.SWEEP_SECONDS_EMBEDDED
    return timedelta(seconds=2.5 * every)
