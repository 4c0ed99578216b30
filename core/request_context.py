"""The current request's id, client address and user, for log lines and audit rows, and the program of the client."""

import ipaddress
import re
import secrets
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import ResolverMatch
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from core.conf import conf
from core.text import clean_name, first_supported_language

_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


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
    """The route without its first slash; None for an unknown path, which the last, empty pattern of the urls takes."""
    return match.route if match and (match.route or path == "/") else None


def shown_path(route: str | None) -> str:
    """What is told of a path: its route, as the path may hold a token."""
    return "/(none)" if route is None else f"/{route}"


def identify(*, user_id: int, session_id: int) -> None:
    """Stores the authenticated user and session of the current request."""
    context = _current.get()
    if context is not None:
        context.user_id, context.session_id = user_id, session_id


def requested_language(accept_language: str) -> str | None:
    """The first supported language of the header `Accept-Language`. None when it names no supported language.

    A quality of 0 means that the language is not acceptable.
    """
    tags = parse_accept_lang_header(accept_language)
    return first_supported_language(tag for tag, quality in tags if quality > 0)


def prefer_language(code: str) -> None:
    """Continues the reply to the current request in this language, unless the client asked for one."""
    context = _current.get()
    if context is not None and not getattr(context.request, "language_was_asked_for", True):
        translation.activate(code)


def is_in_admin(request: HttpRequest) -> bool:
    """Whether the request is for the support pages, whose errors are pages."""
    return request.path_info.startswith("/admin/")


def client_address() -> str | None:
    """The client address of the current request; None outside of a request."""
    context = _current.get()
    return address_of(context.request) if context else None


def address_of(request: HttpRequest) -> str | None:
    """The client's address, IPv4-mapped ones unwrapped; None when the server knows none.

    Every trusted proxy appends the address of its client to X-Forwarded-For, so the n-th value from the right is the
    client's for n proxies. Values further left are set by the client and not trusted.
    """
    peer = plain_address(request.META.get("REMOTE_ADDR", ""))
    if conf.TRUSTED_PROXIES < 1:
        return peer
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if len(forwarded) < conf.TRUSTED_PROXIES:
        return peer
    return plain_address(forwarded[-conf.TRUSTED_PROXIES]) or peer


def bearer_of(header: str) -> str:
    """The token of an Authorization header; an empty text for another scheme."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def network_of(address: str | None) -> str:
    """The network that limits count as one client: an IPv4 address, or the /64 of an IPv6 address."""
    if address is None:
        return "unknown"
    if ":" in address:
        return str(ipaddress.ip_network(f"{address}/64", strict=False).network_address)
    return address


def network_of_request(request: HttpRequest) -> str:
    """The network of the client of a request."""
    return network_of(address_of(request))


def plain_address(text: str) -> str | None:
    """An IP address without brackets, port and zone, an IPv4-mapped one as IPv4; None for any other text."""
    text = text.strip()
    if text.startswith("["):  # [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # 192.0.2.1:443
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


@dataclass(frozen=True, slots=True)
class Client:
    """The client behind a request; the texts are as long as the columns of a session at most."""

    ip: str | None = None
    user_agent: str = ""
    device_name: str = ""


UNKNOWN = Client()


def client_of(request: HttpRequest) -> Client:
    """The address and the program behind a request, and how its device calls itself."""
    user_agent = clean_name(request.headers.get("User-Agent", ""))[:400]
    return Client(
        ip=address_of(request),
        user_agent=user_agent,
        device_name=clean_name(_header_text(request, "X-Device-Name"))[:200] or device_name(user_agent),
    )


def _header_text(request: HttpRequest, name: str) -> str:
    """A header in which clients send UTF-8; a server hands its bytes over as Latin-1."""
    value = request.headers.get(name, "")
    with suppress(UnicodeError):  # not UTF-8: kept as it is
        return value.encode("latin-1").decode()
    return value


def device_name(user_agent: str) -> str:
    """A readable device name: "Firefox on Linux", or the first word of an app's user agent."""
    program = next((name for mark, name in _PROGRAMS if mark in user_agent), user_agent.partition("/")[0][:60])
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{program} on {system}" if program and system else program or system
