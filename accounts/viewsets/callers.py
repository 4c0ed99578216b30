"""Where a request comes from, as services want to know it."""

from rest_framework.request import Request

from accounts import request_context
from accounts.services.sign_in import Caller

DEVICE_COOKIE = "trusted_device"


def caller_of(request: Request) -> Caller:
    """The address and the program behind a request, and how its device calls itself."""
    return Caller(
        ip=request_context.address_of(request._request),
        user_agent=request.headers.get("User-Agent", ""),
        device_name=request.headers.get("X-Device-Name", ""),
    )


def device_token_of(request: Request) -> str:
    """The trusted-device token: a header from apps, a cookie from browsers; empty without one."""
    return request.headers.get("X-Device-Token", "") or request.COOKIES.get(DEVICE_COOKIE, "")
