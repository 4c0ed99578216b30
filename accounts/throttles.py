"""The keys by which the rates of sign-in, codes and sessions are counted (`core.throttles`)."""

from typing import cast

from rest_framework.request import Request

from accounts.authentication import bearer_token
from accounts.models import Session
from accounts.tokens import decode_session_token
from core.text import normalise_address
from core.throttles import Throttle, network, user


def network_and_email(request: Request) -> str | None:
    """The client's network with the address in the body; None for what is no address."""
    email = request.data.get("email") if isinstance(request.data, dict) else None
    try:
        return f"{network(request)} {normalise_address(email)}" if isinstance(email, str) else None
    except ValueError:
        return None


def network_and_account(request: Request) -> str:
    """The client's network with the account behind its two-step token."""
    return f"{network(request)} {user(request)}"


def session(request: Request) -> str:
    """The session behind the request's token."""
    return str(cast(Session, request.auth).sid)


def session_of_token(request: Request) -> str:
    """The session of a token, for the view without authentication that reads it."""
    return decode_session_token(bearer_token(request)).sid


def by_address(scope: str) -> tuple[Throttle, Throttle]:
    """Two rates of an endpoint that takes an address: of a network, and of a network with one address."""
    return Throttle(f"{scope}_network", by=network), Throttle(scope, by=network_and_email)


SIGN_IN = by_address("login")
SIGN_OUT = Throttle("sign_out", by=session)
