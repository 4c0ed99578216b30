"""The client of a request: its address, user agent and device name, for services."""

from dataclasses import dataclass

from django.http import HttpRequest

from core import request_context
from core.text import clean_name

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


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a sign-in."""

    ip: str | None = None
    user_agent: str = ""
    device_name: str = ""


def caller_of(request: HttpRequest) -> Caller:
    """The address and the program behind a request, and how its device calls itself."""
    user_agent = clean_name(request.headers.get("User-Agent", ""))[:400]
    return Caller(
        ip=request_context.address_of(request),
        user_agent=user_agent,
        device_name=clean_name(request.headers.get("X-Device-Name", ""))[:200] or device_name(user_agent),
    )


def device_name(user_agent: str) -> str:
    """A readable device name: "Firefox on Linux", or the first word of an app's user agent."""
    program = next((name for mark, name in _PROGRAMS if mark in user_agent), user_agent.partition("/")[0][:60])
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{program} on {system}" if program and system else program or system
