"""The program and device that a request comes from, as the list of sessions names them."""

from contextlib import suppress
from dataclasses import dataclass

from django.http import HttpRequest

from accounts.conf import DEVICE_NAME_LENGTH
from core.characters import clean_name
from core.network import address_of

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
class Client:
    """The client behind a request. Its texts fit the columns of a session."""

    ip: str | None = None
    user_agent: str = ""
    device_name: str = ""


UNKNOWN = Client()


def client_of(request: HttpRequest) -> Client:
    """The address and the program behind a request, and the name of its device."""
    user_agent = clean_name(request.headers.get("User-Agent", ""))[:400]
    return Client(
        ip=address_of(request),
        user_agent=user_agent,
        device_name=clean_name(_header_text(request, "X-Device-Name"))[:DEVICE_NAME_LENGTH] or device_name(user_agent),
    )


def _header_text(request: HttpRequest, name: str) -> str:
    """A header that clients send in UTF-8, and that servers decode as Latin-1."""
    value = request.headers.get(name, "")
    with suppress(UnicodeError):  # not UTF-8: kept as it is
        return value.encode("latin-1").decode()
    return value


def device_name(user_agent: str) -> str:
    """A readable device name: "Firefox on Linux", or the first word of an app's user agent."""
    program = next((name for mark, name in _PROGRAMS if mark in user_agent), user_agent.partition("/")[0][:60])
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{program} on {system}" if program and system else program or system
