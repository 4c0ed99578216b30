"""What log lines and audit rows must know about the request at hand: its id, and who called from where."""

from contextvars import ContextVar, Token
from dataclasses import dataclass

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class RequestContext:
    request_id: str = ""
    request: HttpRequest | None = None


_current: ContextVar[RequestContext] = ContextVar("request_context", default=RequestContext())


def enter(*, request_id: str, request: HttpRequest | None = None) -> Token[RequestContext]:
    return _current.set(RequestContext(request_id, request))


def leave(token: Token[RequestContext]) -> None:
    _current.reset(token)


def request_id() -> str:
    """The id of the request at hand, or an empty string outside of one."""
    return _current.get().request_id
