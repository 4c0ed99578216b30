"""The current request: its id, path, user and session, for log lines and audit rows."""

import re
import secrets
from contextvars import ContextVar, Token
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import ResolverMatch
from django.utils import translation


@dataclass(slots=True)
class RequestContext:
    request_id: str
    request: HttpRequest
    user_id: int | None = None
    session_id: int | None = None


_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_current: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)


def id_for(sent_id: str) -> str:
    """The id of a request: the one that its client sent, if it is valid, else a new one."""
    return sent_id if _ID.fullmatch(sent_id) else secrets.token_hex(8)


def enter(*, request_id: str, request: HttpRequest) -> Token[RequestContext | None]:
    return _current.set(RequestContext(request_id, request))


def leave(token: Token[RequestContext | None]) -> None:
    _current.reset(token)


def current() -> RequestContext | None:
    return _current.get()


def request_id() -> str:
    """The id of the current request, or an empty string outside of a request."""
    context = _current.get()
    return context.request_id if context else ""


def route_of(match: ResolverMatch | None, path: str) -> str | None:
    """The route without its first slash; None for an unknown path, which matches the last, empty pattern of the urls."""
    return match.route if match and (match.route or path == "/") else None


def shown_path(route: str | None) -> str:
    """The route in place of a path that may hold a token."""
    return "/(none)" if route is None else f"/{route}"


def identify(*, user_id: int, session_id: int) -> None:
    """Stores the authenticated user and session of the current request."""
    context = _current.get()
    if context is not None:
        context.user_id, context.session_id = user_id, session_id


def prefer_language(code: str) -> None:
    """Switches the rest of the current reply to this language, unless the client asked for one."""
    context = _current.get()
    if context is not None and not getattr(context.request, "language_was_asked_for", True):
        translation.activate(code)


def is_in_admin(request: HttpRequest) -> bool:
    """Whether the request is for the support pages: their errors are HTML pages."""
    return request.path_info.startswith("/admin/")


def bearer_of(header: str) -> str:
    """The token of an Authorization header; an empty text for another scheme."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_of_proxy(header: str) -> bool:
    """Whether an Authorization header is for a proxy in front: a browser adds that proxy's user name and password to every
    request."""
    return header.strip().partition(" ")[0].lower() in ("basic", "digest", "negotiate", "ntlm")
