"""Updates calls when a socket opens or closes."""

from datetime import timedelta

from django.utils import timezone

from core.transactions import unit_of_work
from realtime.calls.models import Call, CallParty
from realtime.calls.services.ending import end_overdue_of
from realtime.calls.services.participants import bind, open_sockets
from realtime.conf import conf
from realtime.kinds import SocketRef


def note_open(*, user_id: int, device: SocketRef) -> None:
    """A socket opened: it replaces the bound socket of its own session if that has closed."""
    end_overdue_of(user_id=user_id)
    bound = CallParty.objects.live_of(user_id).filter(session_id=device.session_id)
    party = bound.exclude(socket_id=device.socket_id).first()
    if party is None:
        return
    with unit_of_work():
        call = Call.objects.select_for_update().get(id=party.call_id)
        party.refresh_from_db()
        if not party.live or party.session_id != device.session_id or open_sockets([party]):
            return
        bind(party, device)
        _reset_deadline(call)


def note_closed(*, user_id: int, socket_id: str) -> None:
    """A socket closed. If an active call has no open bound socket left, its deadline is set to one minute."""
    party = CallParty.objects.live_of(user_id).filter(socket_id=socket_id).first()
    if party is None:
        return
    with unit_of_work():
        call = Call.objects.select_for_update().get(id=party.call_id)
        changed = CallParty.objects.filter(id=party.id, live=True, socket_id=socket_id, gone_at=None)
        if changed.update(gone_at=timezone.now()) and not open_sockets(call.parties.all()):
            _reset_deadline(call)


def _reset_deadline(call: Call) -> None:
    if call.state == Call.State.ACTIVE:
        call.expires_at = timezone.now() + timedelta(seconds=conf.CALL_LOST_SECONDS)
        call.save(update_fields=["expires_at"])
