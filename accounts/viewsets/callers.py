"""The client of a request, in the form that services expect."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.services import callers
from accounts.services.callers import Caller

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


def caller_of(request: Request) -> Caller:
    return callers.caller_of(request._request)


def device_token_of(request: Request) -> str:
    """The trusted-device token: a header from apps, a cookie from browsers; empty without one."""
    return request.headers.get("X-Device-Token", "") or request.COOKIES.get(DEVICE_COOKIE, "")
