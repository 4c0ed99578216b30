"""Routes sockets: one path, for clients from allowed origins."""

import logging
from collections.abc import Awaitable, Callable, Iterable

from channels.routing import URLRouter
from channels.security.websocket import OriginValidator
from django.urls import path, re_path

from core import origins
from core.conf import project
from realtime import handshakes
from realtime.close_codes import Close
from realtime.consumers import RealtimeConsumer
from realtime.consumers.protocol import Receive, Scope, Send

logger = logging.getLogger("parley.realtime")

LOGGED_CHARACTERS = 200


def websocket_application(prefix: str) -> "SiteOriginValidator":
    """The socket's path below `prefix` ("api/v1/"); any other path is refused with 403."""
    return SiteOriginValidator(
        URLRouter(
            [
                path(f"{prefix}realtime", RealtimeConsumer.as_asgi()),
                # The type stubs know views only.
                re_path("", refuse),  # type: ignore[arg-type]
            ]
        )
    )


class SiteOriginValidator(OriginValidator):
    """Admits native apps, which do not send an Origin, and pages of this site and of the trusted sites.

    Channels' own validator refuses native apps, reads only the last of several Origins, and fails with a 500 on one
    that cannot be parsed.
    """

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        super().__init__(application, allowed_origins=())

    # Not `async`: a coroutine of its own would be resumed with every message of every socket.
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if project.RATELIMIT_ENABLE and (seconds := handshakes.wait_of(scope)):
            return handshakes.refuse_for(seconds, scope, send)
        application = self.application if is_allowed_origin(scope.get("headers", ())) else close_as_forbidden
        return application(scope, receive, send)


async def refuse(_scope: Scope, receive: Receive, send: Send) -> None:
    """An ASGI application that rejects the handshake with 403."""
    await receive()
    await send({"type": "websocket.close", "code": Close.FORBIDDEN.value})


async def close_as_forbidden(scope: Scope, receive: Receive, send: Send) -> None:
    """Accepts the socket and closes it before anything is read. A browser does not show a page the status of a refused
    handshake, so the page would try for ever."""
    sent = ", ".join(map(ascii, _origins_of(scope.get("headers", ()))))
    logger.warning(
        "refused a socket: add its origin to CORS_ALLOWED_ORIGINS if it is yours: %s", sent[:LOGGED_CHARACTERS]
    )
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": Close.FORBIDDEN.value, "reason": Close.FORBIDDEN.reason})


def is_allowed_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether there is no Origin, or one that `core.origins` allows."""
    sent = _origins_of(headers)
    return not sent or (len(sent) == 1 and origins.is_allowed(sent[0]))


def _origins_of(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name.lower() == b"origin"]
