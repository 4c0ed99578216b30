"""What a handshake says: the web page that it comes from, its token and its language."""

from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import parse_qsl, urlsplit

from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http import HttpRequest
from django.http.request import validate_host
from django.utils import translation

from core.conf import project
from realtime.consumers.protocol import Close, Receive, Scope, Send


class SiteOriginValidator(OriginValidator):
    """Admits native apps, which send no Origin, and pages of this site and of the trusted sites.

    Channels' own refuses native apps, reads only the last of several Origins, and fails with a 500 on one that cannot
    be parsed.
    """

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        super().__init__(application, allowed_origins=())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        application = self.application if is_allowed_origin(scope.get("headers", ())) else refuse
        await application(scope, receive, send)


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


# Query parameters in which clients send tokens by mistake; access logs would store them.
QUERY_TOKENS = {"token", "access_token", "auth", "authorization", "bearer", "jwt"}


def _header(scope: Scope, name: bytes) -> str | None:
    for key, value in scope.get("headers", ()):
        if key.lower() == name:
            return str(value.decode("latin-1"))
    return None


def bearer_of(scope: Scope) -> str | None:
    """The token of the Authorization header; an empty text for anything but a bearer token."""
    header = _header(scope, b"authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def has_query_token(scope: Scope) -> bool:
    query = scope.get("query_string", b"")[:8192].decode("latin-1")
    return any(name.lower() in QUERY_TOKENS for name, _ in parse_qsl(query, keep_blank_values=True))


def language_of(scope: Scope) -> str | None:
    accepted = (_header(scope, b"accept-language") or "")[:200].strip()
    if not accepted or accepted == "*":
        return None
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return translation.get_language_from_request(request)
