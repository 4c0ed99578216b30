"""The sockets behind a call: they open, close, and come back."""

from datetime import timedelta

from django.utils import timezone

from accounts.unit_of_work import unit_of_work
from realtime.conf import conf
from realtime.kinds import Device
from realtime.models import Call, CallParty
from realtime.services.calls.ending import settle_due_of
from realtime.services.calls.seats import bind, open_sockets


def note_open(*, user_id: int, device: Device) -> None:
    """A socket opened: where the bound socket of its own session has closed, it takes the place."""
    settle_due_of(user_id=user_id)
    bound = CallParty.objects.filter(user_id=user_id, live=True, session_id=device.session_id)
    party = bound.exclude(socket_id=device.socket_id).first()
    if party is None:
        return
    with unit_of_work():
        call = Call.objects.select_for_update().get(id=party.call_id)
        party.refresh_from_db()
        if not party.live or party.session_id != device.session_id or open_sockets([party]):
            return
        bind(party, device)
        _look_again(call)


def note_closed(*, user_id: int, socket_id: str) -> None:
    """A socket closed. When both sides of an active call are without theirs, its last minute begins."""
    party = CallParty.objects.filter(user_id=user_id, live=True, socket_id=socket_id).first()
    if party is None:
        return
    with unit_of_work():
        call = Call.objects.select_for_update().get(id=party.call_id)
        changed = CallParty.objects.filter(id=party.id, live=True, socket_id=socket_id, gone_at=None)
        if changed.update(gone_at=timezone.now()) and not open_sockets(call.parties.all()):
            _look_again(call)


def _look_again(call: Call) -> None:
    if call.state == Call.State.ACTIVE:
        call.expires_at = timezone.now() + timedelta(seconds=conf.CALL_LOST_SECONDS)
        call.save(update_fields=["expires_at"])
