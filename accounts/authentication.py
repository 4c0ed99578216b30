"""The bearer token of a request. DRF loads this while its views module is still loading, so nothing
here, nor what it imports, may import rest_framework views, generics or viewsets."""

from typing import Any, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTAuthentication

from accounts.exceptions import TokenInvalid
from accounts.models import OneTimeToken, Session, User
from accounts.sign_in import second_step, sessions
from accounts.tokens import SessionToken
from core import request_context
from core.api.exceptions import ApiError


def bearer_token(request: Request) -> str:
    """The token of the Authorization header. TokenInvalid without one, and for a garbled one."""
    token = request_context.bearer_of(request.META.get("HTTP_AUTHORIZATION", ""))
    if not token or " " in token:
        raise TokenInvalid
    return token


class BearerAuthentication(JWTAuthentication):
    """Sets request.user to the user and request.auth to the session of the token, which one query reads together."""

    def authenticate(self, request: Request) -> tuple[User, Session]:  # type: ignore[override]
        return self.authenticate_credentials(bearer_token(request))

    def authenticate_credentials(self, text: str) -> tuple[User, Session]:
        token = cast(SessionToken, self.get_validated_token(cast(Any, text)))
        user, session = sessions.of_token(token)
        request_context.identify(user_id=user.id, session_id=session.id)
        return user, session


class SignatureOrBearer(BearerAuthentication):
    """Anonymous without an Authorization header; then the path must be signed.

    Either of the two grants access, so a valid signature is also enough beside an expired token.
    """

    def authenticate(self, request: Request) -> Any:
        if not request.META.get("HTTP_AUTHORIZATION"):
            return None
        text = bearer_token(request)  # a garbled header is refused beside a valid signature, too
        try:
            return self.authenticate_credentials(text)
        except ApiError:
            if "s" not in request.query_params:
                raise
            return None


class TwoStepAuthentication(BaseAuthentication):
    """The opaque token that a sign-in returns before the second step; request.auth is its OneTimeToken."""

    def authenticate(self, request: Request) -> tuple[User, OneTimeToken]:
        pending = second_step.authenticate(bearer_token(request))
        return pending.user, pending
