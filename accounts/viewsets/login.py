"""Signing in and out, and staying signed in."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import bearer_token, person
from accounts.exceptions import TokenInvalid
from accounts.serializers.security import LoginInput, LoginResponse, TokenOutput
from accounts.serializers.users import AccountOutput, MeOutput, OwnAccountOutput
from accounts.services import login, sessions
from accounts.throttles import SIGN_OUT, network_and_email, session_of_token
from accounts.viewsets.callers import DEVICE_NAME, DEVICE_TOKEN, caller_of, device_token_of
from core.serializers import OkReply
from core.throttles import Throttle, network, throttles
from core.validation import checked


class LoginViewSet(ViewSet):
    """Endpoints without a session, or with a token that can only be refreshed."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(Throttle("login_network", by=network), Throttle("login", by=network_and_email))
    @extend_schema(
        operation_id="auth_login", request=LoginInput, responses=LoginResponse, parameters=[DEVICE_NAME, DEVICE_TOKEN]
    )
    def login(self, request: Request) -> Response:
        form = checked(LoginInput, request)
        outcome = login.with_password(**form, caller=caller_of(request), device_token=device_token_of(request))
        if isinstance(outcome, login.SecondStepNeeded):
            return Response({"two_step_required": True, "two_step_token": outcome.two_step_token, "hint": outcome.hint})
        return Response({"token": outcome.token, "user": AccountOutput.render(outcome.user)})

    @throttles(Throttle("refresh", by=session_of_token))
    @extend_schema(operation_id="auth_refresh", request=None, responses=TokenOutput)
    def refresh(self, request: Request) -> Response:
        token = bearer_token(request)
        if token is None:
            raise TokenInvalid
        return Response({"token": sessions.refresh(token)})


class OwnSessionViewSet(ViewSet):
    """Endpoints of the current session."""

    @extend_schema(operation_id="auth_me", responses=MeOutput)
    def me(self, request: Request) -> Response:
        return Response({"user": OwnAccountOutput.render(person(request))})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_logout", request=None, responses=OkReply)
    def logout(self, request: Request) -> Response:
        sessions.revoke([request.auth], reason="logout")
        return Response({})
