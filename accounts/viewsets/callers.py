"""Where a request comes from, as services want to know it."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts import request_context
from accounts.services.sign_in import Caller
from accounts.text import clean_name

DEVICE_COOKIE = "trusted_device"


DEVICE_NAME = OpenApiParameter(
    "X-Device-Name",
    str,
    OpenApiParameter.HEADER,
    description="How this device is called in the list of sign-ins; told from the user agent when missing.",
)
DEVICE_TOKEN = OpenApiParameter(
    "X-Device-Token",
    str,
    OpenApiParameter.HEADER,
    description="The `device_token` of a trusted device: skips the second step.",
)

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


def caller_of(request: Request) -> Caller:
    """The address and the program behind a request, and how its device calls itself."""
    user_agent = clean_name(request.headers.get("User-Agent", ""))[:400]
    return Caller(
        ip=request_context.address_of(request._request),
        user_agent=user_agent,
        device_name=clean_name(request.headers.get("X-Device-Name", ""))[:200] or device_name(user_agent),
    )


def device_name(user_agent: str) -> str:
    """What a person would call it: "Firefox on Linux", or the first word of an app's user agent."""
    program = next((name for mark, name in _PROGRAMS if mark in user_agent), user_agent.partition("/")[0][:60])
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{program} on {system}" if program and system else program or system


def device_token_of(request: Request) -> str:
    """The trusted-device token: a header from apps, a cookie from browsers; empty without one."""
    return request.headers.get("X-Device-Token", "") or request.COOKIES.get(DEVICE_COOKIE, "")
