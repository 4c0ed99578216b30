"""Middleware for the admin alone: sessions, CSRF, the second factor, messages."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.middleware.csrf import CsrfViewMiddleware
from django_otp.middleware import OTPMiddleware

from core import request_context
from server.middleware import GetResponse


class _AdminOnly:
    """Limits a middleware to the admin: other requests skip it and the admin middleware that follows it."""

    async_capable = False
    _next_outside: GetResponse

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)  # type: ignore[call-arg]
        # Django wraps each middleware in a function that turns exceptions into replies.
        following = getattr(get_response, "__wrapped__", None)
        self._next_outside = following._next_outside if isinstance(following, _AdminOnly) else get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request_context.is_in_admin(request):
            return super().__call__(request)
        return self._next_outside(request)


class AdminSessionMiddleware(_AdminOnly, SessionMiddleware):
    pass


class AdminCsrfMiddleware(_AdminOnly, CsrfViewMiddleware):
    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponseForbidden | None:
        return super().process_view(request, *view) if request_context.is_in_admin(request) else None


class AdminAuthenticationMiddleware(_AdminOnly, AuthenticationMiddleware):
    pass


class AdminSecondFactorMiddleware(_AdminOnly, OTPMiddleware):
    pass


class AdminMessageMiddleware(_AdminOnly, MessageMiddleware):
    pass
