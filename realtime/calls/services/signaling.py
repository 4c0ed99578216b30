"""The bound devices of an answered call: signal, connected and hang up; the opening and closing of their sockets; and
the STUN and TURN servers for their media, with credentials that are valid for an hour.

The scheme of the credentials is coturn's `use-auth-secret`: the user name is `<expiry>:<pseudonym>`, the password its
HMAC-SHA1 under the shared secret. The TURN server learns a pseudonym of the user, never an id. The pseudonym is the
same in every call, because the server's quota for a user counts by it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from core.database.transactions import unit_of_work
from core.text import is_encodable
from realtime.calls.models import Call, CallParticipant
from realtime.calls.selectors import call_for
from realtime.calls.services import connections
from realtime.calls.services.state import (
    LockedCall,
    announce,
    end,
    end_overdue_of,
    locked_call,
    new_device_of,
    take_over,
)
from realtime.conf import CANDIDATE_BYTES, SDP_BYTES, conf
from realtime.devices import Device
from realtime.exceptions import CallConflict

if TYPE_CHECKING:
    from accounts.models import User


# The fields beside a candidate: its media section and user fragment.
OTHER_FIELDS_BYTES = 1024
CANDIDATES = 100
DEPTH = 16


def signal(*, device: Device, call_id: object, kind: str, payload: dict[str, Any]) -> Call:
    """Passes a payload to the other bound device unread; it is neither stored nor logged.

    ValidationError on `payload` beyond its limits: SDP 48 KiB, a candidate 2 KiB, 100 candidates per
    participant between restarts. CallConflict for any other device than the two bound ones, even with an invalid
    payload.
    """
    with _bound_call(device, call_id) as locked:
        _validate_payload(kind, payload)
        _count_candidates(locked, kind)
        connections.send(locked.other, "call.signal", {"call_id": locked.call.id, "kind": kind, "payload": payload})
    return locked.call


def connected(*, device: Device, call_id: object) -> Call:
    """Media flows on this device. The call is active once both devices have sent this. A repeat changes nothing."""
    with _bound_call(device, call_id) as locked:
        if locked.mine.connected_at is None:
            locked.mine.connected_at = timezone.now()
            locked.mine.save(update_fields=["connected_at"])
        if locked.call.state == Call.State.CONNECTING and locked.other.connected_at is not None:
            locked.call.state = Call.State.ACTIVE
            _reset_deadline(locked.call)
            announce(locked.call)
    return locked.call


def hangup(*, device: Device, call_id: object) -> Call:
    """One of the two participants ends the answered call."""
    with _bound_call(device, call_id) as locked:
        end(locked.call, Call.Outcome.COMPLETED)
    return locked.call


def socket_opened(*, device: Device) -> None:
    """A socket opened: it replaces the bound socket of its own session if that has closed."""
    end_overdue_of(user_id=device.user_id)
    participant = CallParticipant.objects.live_of(device.user_id).filter(session_id=device.session_id).first()
    if participant is None:
        return
    with unit_of_work():
        call = Call.objects.select_for_update().get(id=participant.call_id)
        participant.refresh_from_db()
        if not participant.live or participant.session_id != device.session_id or connections.is_any_open(participant):
            return
        take_over(call, participant, device)
        _reset_deadline(call)


def socket_renewed(*, device: Device) -> None:
    """A socket continues with this session of its user, so its call now belongs to that session."""
    bound = CallParticipant.objects.filter(live=True, socket_id=device.socket_id).exclude(session_id=device.session_id)
    for call_id in bound.values_list("call_id", flat=True):
        with unit_of_work():
            Call.objects.select_for_update().get(id=call_id)
            bound.filter(call_id=call_id).update(session_id=device.session_id)


def socket_closed(*, socket_ids: Iterable[str]) -> None:
    """Sockets closed. A socket of the same session that has opened since the connection broke replaces a bound one.

    An active call that has no open bound socket left gets a deadline of one minute.
    """
    bound = CallParticipant.objects.filter(live=True, socket_id__in=list(socket_ids), gone_at=None)
    for seen in bound:
        with unit_of_work():
            call = Call.objects.select_for_update().get(id=seen.call_id)
            participant = bound.filter(id=seen.id).first()
            if participant is None:
                continue
            since = timezone.now() - timedelta(seconds=conf.CALL_LOST_SECONDS)
            device = new_device_of(call, participant, since)
            if device is not None:
                take_over(call, participant, device)
                # Its `ready` said that another device is bound.
                announce(call)
            else:
                participant.gone_at = timezone.now()
                participant.save(update_fields=["gone_at"])
            if not connections.is_any_open(*call.participants.all()):
                _reset_deadline(call)


def _reset_deadline(call: Call) -> None:
    """Allows an active call to be without an open bound socket for a minute. Also saves that it is active."""
    if call.state == Call.State.ACTIVE:
        call.expires_at = timezone.now() + timedelta(seconds=conf.CALL_LOST_SECONDS)
        call.save(update_fields=["state", "expires_at"])


@contextmanager
def _bound_call(device: Device, call_id: object) -> Iterator[LockedCall]:
    """The locked call in a unit of work. CallConflict unless it is answered and this device is bound to it."""
    with locked_call(Call.State.CONNECTING, Call.State.ACTIVE, user_id=device.user_id, call_id=call_id) as locked:
        locked.require_bound(device)
        yield locked


def _validate_payload(kind: str, payload: dict[str, Any]) -> None:
    if kind in ("offer", "answer", "restart"):
        content, limit = payload.get("sdp"), SDP_BYTES
    else:
        content, limit = payload.get("candidate"), CANDIDATE_BYTES
        if isinstance(content, dict):
            content = content.get("candidate")
    if not _is_transportable(payload):
        raise ValidationError({"payload": [_("A signal must be a small, flat object.")]})
    size = len(content.encode()) if isinstance(content, str) else 0
    # JSON escapes quotes and line ends; `other_size` is the size without the content's own text.
    other_size = _bytes_of(payload) - (_bytes_of(content) if isinstance(content, str) else 0)
    if size > limit or other_size > (OTHER_FIELDS_BYTES if size else limit):
        raise ValidationError({"payload": [_("This is too long for a signal.")]})
    if kind in ("offer", "answer") and not isinstance(content, str):
        raise ValidationError({"payload": [_("An offer or answer must contain its SDP as text.")]})


def _is_transportable(value: Any, depth: int = 0) -> bool:
    """Whether every layer between two sockets can transport it: its text can be encoded, its numbers have 64 bits."""
    if isinstance(value, str):
        return is_encodable(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if depth > DEPTH:
        return False
    if isinstance(value, dict):
        return all(_is_transportable(key) and _is_transportable(inner, depth + 1) for key, inner in value.items())
    if isinstance(value, list):
        return all(_is_transportable(inner, depth + 1) for inner in value)
    return True


def _bytes_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _count_candidates(locked: LockedCall, kind: str) -> None:
    if kind == "restart" and locked.mine.candidates:
        locked.mine.candidates = 0
    elif kind == "ice":
        if locked.mine.candidates >= CANDIDATES:
            raise ValidationError({"payload": [_("Too many candidates for one call.")]})
        locked.mine.candidates += 1
    else:
        return
    locked.mine.save(update_fields=["candidates"])


def credentials(label: str) -> tuple[str, str]:
    """User name and password for the TURN server, valid for TURN_SECONDS from now."""
    expiry = int((timezone.now() + timedelta(seconds=conf.TURN_SECONDS)).timestamp())
    secret = conf.TURN_SECRET.encode()
    pseudonym = hmac.new(secret, f"pseudonym:{label}".encode(), hashlib.sha256).hexdigest()[:20]
    username = f"{expiry}:{pseudonym}"
    digest = hmac.new(secret, username.encode(), hashlib.sha1).digest()
    return username, base64.b64encode(digest).decode()


def ice(*, label: str, relay_only: bool) -> dict[str, Any]:
    """`ice_servers` and `ice_transport_policy`, as RTCPeerConnection takes them.

    With `relay_only` there is no STUN server, so that the client's address is not discovered.
    """
    servers: list[dict[str, Any]] = []
    if conf.STUN_URLS and not relay_only:
        servers.append({"urls": list(conf.STUN_URLS)})
    if conf.TURN_URLS and conf.TURN_SECRET:
        username, credential = credentials(label)
        servers.append({"urls": list(conf.TURN_URLS), "username": username, "credential": credential})
    return {"ice_servers": servers, "ice_transport_policy": "relay" if relay_only else "all"}


def ice_servers(*, actor: "User", call_id: object) -> dict[str, Any]:
    """`ice_servers` and `ice_transport_policy` of a live call. NotFound, CallConflict once it has ended."""
    end_overdue_of(user_id=actor.id)
    call = call_for(actor.id, call_id)
    if call.state == Call.State.ENDED:
        raise CallConflict
    return ice_for(actor=actor, call=call)


def ice_for(*, actor: "User", call: Call) -> dict[str, Any]:
    """The same for a call that is known to be the actor's; an ended one gets no servers."""
    route = ice(label=str(actor.id), relay_only=actor.relay_calls)
    return route | {"ice_servers": []} if call.state == Call.State.ENDED else route
