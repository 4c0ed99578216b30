"""The bearer token of a request. DRF loads this while its views module is still loading, so nothing
here, nor what it imports, may import rest_framework views, generics or viewsets."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.exceptions import TokenInvalid
from accounts.models import OneTimeToken, Session, User
from accounts.services import sessions, two_step
from core import request_context
from core.exceptions import ApiError


def bearer_token(request: Request) -> str:
    """The token of the Authorization header. TokenInvalid without one, and for a garbled one."""
    token = request_context.bearer_of(request.META.get("HTTP_AUTHORIZATION", ""))
    if not token or " " in token:
        raise TokenInvalid
    return token


class BearerAuthentication(BaseAuthentication):
    """Sets request.user to the user and request.auth to the session."""

    def authenticate(self, request: Request) -> tuple[User, Session]:
        return self.authenticate_credentials(bearer_token(request))

    def authenticate_credentials(self, token: str) -> tuple[User, Session]:
        user, session = sessions.authenticate(token)
        request_context.identify(user_id=user.id, session_id=session.id)
        return user, session

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class SignatureOrBearer(BearerAuthentication):
    """Anonymous without an Authorization header: the path must be signed then.

    A valid signature is enough beside an expired token, too: either of the two grants access.
    """

    def authenticate(self, request: Request) -> Any:
        if not request.META.get("HTTP_AUTHORIZATION"):
            return None
        token = bearer_token(request)  # a garbled header is refused beside a valid signature, too
        try:
            return self.authenticate_credentials(token)
        except ApiError:
            if "s" not in request.query_params:
                raise
            return None


class TwoStepAuthentication(BaseAuthentication):
    """The opaque token that login gives before the second step; request.auth is its row."""

    def authenticate(self, request: Request) -> tuple[User, OneTimeToken]:
        pending = two_step.authenticate(bearer_token(request))
        return pending.user, pending
