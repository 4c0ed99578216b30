"""STUN and TURN servers for media, with credentials that are valid for an hour.

The scheme is coturn's `use-auth-secret`: the user name is `<expiry>:<pseudonym>`, the password its
HMAC-SHA1 under the shared secret. The TURN server learns a pseudonym of user and call, never an id.
"""

import base64
import hashlib
import hmac
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from realtime.calls.models import Call
from realtime.calls.services.ending import end_overdue_of
from realtime.calls.services.participants import call_of
from realtime.conf import conf
from realtime.exceptions import CallConflict

if TYPE_CHECKING:
    from accounts.models import User


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
    call = call_of(actor.id, call_id)
    if call.state == Call.State.ENDED:
        raise CallConflict
    return ice_for(actor=actor, call=call)


def ice_for(*, actor: "User", call: Call) -> dict[str, Any]:
    """The same for a call already checked to be the actor's; no servers for an ended one."""
    route = ice(label=f"{actor.id}:{call.id}", relay_only=actor.relay_calls)
    return route | {"ice_servers": []} if call.state == Call.State.ENDED else route
