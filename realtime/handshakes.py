"""Limits the sockets that a network may open. Beyond the limit the handshake is answered with 429, before anything is
read.

Counts in the memory of the process, because the check must cost less than a handshake.
"""

import json
import math
import time
from collections import OrderedDict
from uuid import uuid4

from core.api import errors
from core.api.exceptions import RateLimited
from core.network import forwarded_address, network_of, wider_networks
from realtime.conf import conf
from realtime.consumers.protocol import Scope, Send

# The most networks that are remembered; the least recent ones are forgotten first.
NETWORKS = 100_000


class Allowance:
    """A bucket for each network: as many handshakes at once as a minute allows, refilled evenly."""

    def __init__(self) -> None:
        # Network → handshakes left, and the time of that count.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, network: str, *, now: float) -> float:
        """Counts a handshake of this network and of the wider ones around it. Returns the seconds to wait, 0 when it is
        allowed."""
        for key, times in [(network, 1), *wider_networks(network)]:
            # A refusal of the narrow network does not count against the wide one.
            if seconds := self._take(key, conf.HANDSHAKES_PER_MINUTE * times, now):
                return seconds
        return 0

    def _take(self, key: str, a_minute: int, now: float) -> float:
        left, at = self._left.pop(key, (a_minute, now))
        left = min(a_minute, left + (now - at) * a_minute / 60)
        is_allowed = left >= 1
        self._left[key] = (left - 1 if is_allowed else left, now)
        if len(self._left) > NETWORKS:
            self._left.popitem(last=False)
        return 0 if is_allowed else (1 - left) * 60 / a_minute


_allowance = Allowance()


def wait_of(scope: Scope) -> float:
    """The seconds that the client of this handshake has to wait, 0 when it may open a socket."""
    values = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name.lower() == b"x-forwarded-for"]
    peer = (scope.get("client") or ("",))[0]
    return _allowance.wait(network_of(forwarded_address(peer, ",".join(values))), now=time.monotonic())


async def refuse_for(seconds: float, scope: Scope, send: Send) -> None:
    """Answers the handshake with 429 and the envelope; with 403 on a server that can only close."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close"})
        return
    retry_after = math.ceil(seconds)
    request_id = uuid4().hex
    body = errors.body_of(RateLimited.default_code, str(RateLimited.default_detail), retry_after=retry_after)
    content = json.dumps(body | {"request_id": request_id}).encode()
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        "Retry-After": str(retry_after),
        "X-Request-Id": request_id,
    }
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "websocket.http.response.start", "status": 429, "headers": encoded})
    await send({"type": "websocket.http.response.body", "body": content})
