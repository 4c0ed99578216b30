"""Signing in and out, and staying signed in."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import ratelimits
from accounts.authentication import bearer_token, person
from accounts.exceptions import TokenInvalid
from accounts.serializers.account import MeOutput, OkOutput, account, own_account
from accounts.serializers.inputs import checked
from accounts.serializers.login import LoginInput, LoginOutput, TokenOutput
from accounts.services import login, sessions
from accounts.tokens import decode_session_token
from accounts.viewsets.callers import DEVICE_NAME, DEVICE_TOKEN, caller_of, device_token_of


class LoginViewSet(ViewSet):
    """Without a session, or with a token that is only good for its successor."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="auth_login", request=LoginInput, responses=LoginOutput, parameters=[DEVICE_NAME, DEVICE_TOKEN]
    )
    def login(self, request: Request) -> Response:
        client = ratelimits.client_key(request._request)
        ratelimits.check("login_client", client)
        form = checked(LoginInput, request)
        ratelimits.check("login", f"{client} {form['email']}")
        outcome = login.with_password(**form, caller=caller_of(request), device_token=device_token_of(request))
        if isinstance(outcome, login.SecondStepNeeded):
            return Response({"two_step_required": True, "two_step_token": outcome.two_step_token, "hint": outcome.hint})
        return Response({"token": outcome.token, "user": account(outcome.user)})

    @extend_schema(operation_id="auth_refresh", request=None, responses=TokenOutput)
    def refresh(self, request: Request) -> Response:
        token = bearer_token(request)
        if token is None:
            raise TokenInvalid
        ratelimits.check("refresh", decode_session_token(token).sid)
        return Response({"token": sessions.refresh(token)})


class OwnSessionViewSet(ViewSet):
    """What the bearer of a live session asks about it."""

    @extend_schema(operation_id="auth_me", responses=MeOutput)
    def me(self, request: Request) -> Response:
        return Response({"user": own_account(person(request))})

    @extend_schema(operation_id="auth_logout", request=None, responses=OkOutput)
    def logout(self, request: Request) -> Response:
        sessions.revoke([request.auth], reason="logout")
        return Response({})
