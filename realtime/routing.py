"""Routes sockets: one path, for clients from allowed origins."""

from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import urlsplit

from channels.routing import URLRouter
from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http.request import validate_host
from django.urls import path, re_path

from core.conf import project
from realtime.consumers import RealtimeConsumer
from realtime.consumers.protocol import Receive, Scope, Send
from realtime.kinds import Close


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
    """Admits native apps, which send no Origin, and pages of this site and of the trusted sites.

    Channels' own refuses native apps, reads only the last of several Origins, and fails with a 500 on one that cannot
    be parsed.
    """

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        super().__init__(application, allowed_origins=())

    # No coroutine of its own, which would be resumed with every message of every socket.
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        application = self.application if is_allowed_origin(scope.get("headers", ())) else refuse
        return application(scope, receive, send)


async def refuse(_scope: Scope, receive: Receive, send: Send) -> None:
    """An ASGI application that rejects the handshake with 403."""
    await receive()
    await send({"type": "websocket.close", "code": Close.FORBIDDEN.value})


def is_allowed_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """No Origin, one in a list of trusted sites, or one with a host that this server serves."""
    origins = [value for name, value in headers if name.lower() == b"origin"]
    if not origins:
        return True
    if len(origins) > 1:
        return False
    try:
        origin = origins[0].decode("ascii").lower()
        parts = urlsplit(origin)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    # An origin is scheme, host and port; "null", paths and user names are invalid.
    if parts.scheme not in ("http", "https") or not host or "@" in origin:
        return False
    if origin != f"{parts.scheme}://{parts.netloc}":
        return False
    return _is_listed(origin) or validate_host(f"[{host}]" if ":" in host else host, _own_hosts())


def _is_listed(origin: str) -> bool:
    for site in (*project.CORS_ALLOWED_ORIGINS, *settings.CSRF_TRUSTED_ORIGINS):
        site = site.lower().rstrip("/")
        scheme, wildcard, domain = site.partition("://*")
        if origin == site or (wildcard and origin.startswith(f"{scheme}://") and origin.endswith(domain)):
            return True
    return False


def _own_hosts() -> list[str]:
    if settings.ALLOWED_HOSTS or not settings.DEBUG:
        return list(settings.ALLOWED_HOSTS)
    return [".localhost", "127.0.0.1", "[::1]"]
