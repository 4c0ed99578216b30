"""The server key of a request, and the scope that a view requires."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from core import network, request_context
from integrations.exceptions import ScopeMissing, ServerKeyInBrowser, ServerKeyInvalid
from integrations.models import Scope, ServerKey
from integrations.services import keys

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])


class ServerKeyAuthentication(BaseAuthentication):
    """Sets request.auth to the key; there is no user."""

    def authenticate(self, request: Request) -> tuple[None, ServerKey]:
        token = request_context.bearer_of(request.META.get("HTTP_AUTHORIZATION", ""))
        prefix = keys.prefix_of(token)
        if not prefix:
            raise ServerKeyInvalid
        if "Origin" in request.headers:
            logger.warning("A browser has sent the server key sk_%s_…: revoke it.", prefix)
            raise ServerKeyInBrowser
        return None, keys.authenticate(token, address=network.address_of(request._request))

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def needs_scope(scope: Scope) -> Callable[[F], F]:
    """Declares the scope that a key needs for a method of a view."""

    def decorate(method: F) -> F:
        cast(Any, method).scope = scope
        return method

    return decorate


class HasScope(BasePermission):
    """The key has the scope of the method, which every method of these views names."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        scope: Scope | None = getattr(getattr(view, getattr(view, "action", None) or "", None), "scope", None)
        if scope is None:
            raise MethodNotAllowed(str(request.method))
        if scope not in cast(ServerKey, request.auth).scopes:
            raise ScopeMissing(scope=str(scope))
        return True


def server_key(request: Request) -> str:
    """The key behind the request, for its rate."""
    return str(request.auth.pk)
