"""Rates declared on views, and the DRF throttle class that enforces them.

    @throttles(Throttle("login_network", by=network), Throttle("login", by=network_and_email))
    def login(self, request): ...

A method that writes and declares no rate has the rate of all other writes. Keys begin with the client's network,
so that a client can only use up its own requests.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from core.addresses import normalise_address
from core.api import ratelimits
from core.network import network_of_request

if TYPE_CHECKING:  # DRF loads this module while its views module is still loading
    from rest_framework.views import APIView

F = TypeVar("F", bound=Callable[..., Any])


class Throttle(NamedTuple):
    scope: str
    # None: this request is not counted here (the view refuses it anyway).
    by: Callable[[Request], str | None]


def network(request: Request) -> str:
    return network_of_request(request._request)


def user(request: Request) -> str:
    """The signed-in user; the network of a client that is not signed in."""
    return str(request.user.pk) if request.user else network(request)


def network_and_account(request: Request) -> str:
    """The client's network with the account behind its token."""
    return f"{network(request)} {user(request)}"


def network_and_email(request: Request) -> str | None:
    """The client's network with the address in the body; None if that is not an address."""
    email = request.data.get("email") if isinstance(request.data, dict) else None
    try:
        return f"{network(request)} {normalise_address(email)}" if isinstance(email, str) else None
    except ValueError:
        return None


def by_address(scope: str) -> tuple[Throttle, Throttle]:
    """The two rates of an endpoint that takes an address: one for a network, one for a network with this address."""
    return Throttle(f"{scope}_network", by=network), Throttle(scope, by=network_and_email)


WRITES = Throttle("writes", by=user)
UPLOADS = Throttle("uploads", by=user)


def throttles(*declared: Throttle) -> Callable[[F], F]:
    """Declares the rates of one method of a view, in the order in which they are counted."""

    def decorate(method: F) -> F:
        cast(Any, method).throttles = declared
        return method

    return decorate


def throttles_of(handler: object, method: str) -> tuple[Throttle, ...]:
    """The declared rates of a view's method. Without any, a write has the default rate and a read has none."""
    undeclared = () if method.upper() in SAFE_METHODS else (WRITES,)
    declared: tuple[Throttle, ...] = getattr(handler, "throttles", undeclared)
    return declared


class DeclaredThrottles(BaseThrottle):
    """The project's default throttle class. RateLimited by the first scope that is used up."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        action = getattr(view, "action", None) or str(request.method).lower()
        for throttle in throttles_of(getattr(view, action, None), str(request.method)):
            key = throttle.by(request)
            if key is not None:
                ratelimits.check(throttle.scope, key)
        return True
