"""What a handshake says: its token and its language."""

from urllib.parse import parse_qsl

from django.http import HttpRequest
from django.utils import translation

from realtime.consumers.protocol import Scope

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
