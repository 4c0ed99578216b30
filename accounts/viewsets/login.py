"""Signing up, in and out, a forgotten password, the second step, sessions and trusted devices."""

from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import selectors
from accounts.authentication import TwoStepAuthentication, bearer_token
from accounts.client import client_of
from accounts.conf import conf
from accounts.hashers import hashes_password
from accounts.serializers.security import (
    EmailInput,
    LoginInput,
    LoginResponse,
    RecoveryCodeInput,
    RecoverySignInReply,
    ResetPasswordInput,
    SessionsEndedReply,
    SessionSerializer,
    SessionsReply,
    SignUpInput,
    TrustedDeviceSerializer,
    TrustedDevicesReply,
    TwoStepInput,
    TwoStepReply,
    VerifyInput,
)
from accounts.serializers.users import MeReply, NoticeReply, OwnAccountOutput, SignInReply, TokenReply
from accounts.services import password, registration
from accounts.sign_in import second_step, sessions, stages, trusted_devices
from accounts.tokens import SessionToken
from core.api.serializers import OkReply, checked
from core.api.throttles import Throttle, by_address, network, network_and_account, throttles
from core.ids import parse_id
from core.languages import supported_language
from core.request_context import bearer_of, prefer_language

DEVICE_COOKIE = "trusted_device"

DEVICE_NAME = OpenApiParameter(
    "X-Device-Name",
    str,
    OpenApiParameter.HEADER,
    description="Name of this device in the session list. Without it, the user agent is shown.",
)
DEVICE_TOKEN = OpenApiParameter(
    "X-Device-Token",
    str,
    OpenApiParameter.HEADER,
    description="The `device_token` of a trusted device: skips the second step.",
)


def session(request: Request) -> str:
    """The session behind the request's token, as the key of a rate."""
    return str(request.auth.sid)


def session_of_token(request: Request) -> str:
    """The same for the view without authentication that reads the token itself."""
    return SessionToken(bearer_token(request)).sid


SIGN_OUT = Throttle("sign_out", by=session)


def device_token_of(request: Request) -> str:
    """The trusted-device token: a header from apps, a cookie from browsers; empty without one."""
    return request.headers.get("X-Device-Token", "") or request.COOKIES.get(DEVICE_COOKIE, "")


class LoginViewSet(ViewSet):
    """Endpoints without a session, or with a token that can only be refreshed."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @hashes_password
    @throttles(Throttle("signup", by=network))
    @extend_schema(operation_id="auth_signup", request=SignUpInput, responses={201: NoticeReply})
    def signup(self, request: Request) -> Response:
        prefer_language(supported_language(request.data.get("language")))
        data = checked(SignUpInput, request.data)
        registration.sign_up(**data, network=network(request))
        return Response({"message": _("A confirmation code was sent to your e-mail address.")}, status=201)

    @throttles(*by_address("verify"))
    @extend_schema(operation_id="auth_verify", request=VerifyInput, responses=SignInReply, parameters=[DEVICE_NAME])
    def verify(self, request: Request) -> Response:
        data = checked(VerifyInput, request.data)
        user, token = registration.verify_email(
            **data,
            client=client_of(request._request),
            bearer=bearer_of(request.META.get("HTTP_AUTHORIZATION", "")),
        )
        return Response(SignInReply.render(user, token))

    @throttles(*by_address("resend_otp"))
    @extend_schema(operation_id="auth_resend_otp", request=EmailInput, responses=NoticeReply)
    def resend(self, request: Request) -> Response:
        data = checked(EmailInput, request.data)
        registration.resend(**data, network=network(request))
        return Response({"message": _("If this address needs confirming, we've sent a new code.")})

    @throttles(*by_address("forgot_password"))
    @extend_schema(operation_id="auth_forgot_password", request=EmailInput, responses=NoticeReply)
    def forgot(self, request: Request) -> Response:
        data = checked(EmailInput, request.data)
        password.forgot(**data, network=network(request))
        return Response({"message": _("If there is an account with this address, a code was sent to it.")})

    @hashes_password
    @throttles(*by_address("verify_reset"))
    @extend_schema(operation_id="auth_verify_reset", request=ResetPasswordInput, responses=NoticeReply)
    def reset(self, request: Request) -> Response:
        data = checked(ResetPasswordInput, request.data)
        password.reset(**data, network=network(request))
        return Response({"message": _("Your password was changed. Please sign in with it.")})

    @hashes_password
    @throttles(*by_address("login"))
    @extend_schema(
        operation_id="auth_login", request=LoginInput, responses=LoginResponse, parameters=[DEVICE_NAME, DEVICE_TOKEN]
    )
    def login(self, request: Request) -> Response:
        data = checked(LoginInput, request.data)
        outcome = stages.with_password(
            **data, client=client_of(request._request), device_token=device_token_of(request)
        )
        if isinstance(outcome, stages.SecondStepNeeded):
            return Response({"two_step_required": True, "two_step_token": outcome.two_step_token, "hint": outcome.hint})
        return Response(SignInReply.render(outcome.user, outcome.token))

    @throttles(Throttle("refresh", by=session_of_token))
    @extend_schema(operation_id="auth_refresh", request=None, responses=TokenReply)
    def refresh(self, request: Request) -> Response:
        return Response(TokenReply.of_token(sessions.refresh(bearer_token(request))))


class OwnSessionViewSet(ViewSet):
    @extend_schema(operation_id="auth_me", responses=MeReply)
    def me(self, request: Request) -> Response:
        return Response({"user": OwnAccountOutput.render(request.user)})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_logout", request=None, responses=OkReply)
    def logout(self, request: Request) -> Response:
        sessions.revoke([request.auth], reason="logout")
        return Response()


class TwoStepViewSet(ViewSet):
    authentication_classes = [TwoStepAuthentication]
    permission_classes = [AllowAny]

    @hashes_password
    @throttles(Throttle("two_step", by=network_and_account))
    @extend_schema(operation_id="auth_two_step", request=TwoStepInput, responses=TwoStepReply)
    def verify(self, request: Request) -> Response:
        data = checked(TwoStepInput, request.data)
        done = second_step.with_password(pending=request.auth, **data, client=client_of(request._request))
        if done.device_token is not None and "Origin" not in request.headers:
            return Response(TwoStepReply.render(done.user, done.token, device_token=done.device_token))
        response = Response(SignInReply.render(done.user, done.token))
        if done.device_token is not None:  # of a browser
            _set_cookie(response, done.device_token)
        return response

    @throttles(Throttle("resend_two_step_network", by=network), Throttle("resend_two_step", by=network_and_account))
    @extend_schema(operation_id="auth_two_step_resend", request=None, responses=NoticeReply)
    def resend(self, request: Request) -> Response:
        second_step.resend(pending=request.auth, network=network(request))
        return Response({"message": _("We've e-mailed you.")})

    @throttles(Throttle("two_step_forgot", by=network_and_account))
    @extend_schema(operation_id="auth_two_step_forgot", request=RecoveryCodeInput, responses=RecoverySignInReply)
    def recover(self, request: Request) -> Response:
        data = checked(RecoveryCodeInput, request.data)
        done = second_step.with_recovery_code(
            pending=request.auth, typed=data["recovery_code"], client=client_of(request._request)
        )
        left = done.recovery_codes_left
        return Response(RecoverySignInReply.render(done.user, done.token, recovery_codes_left=left))


def _set_cookie(response: Response, token: str) -> None:
    """Stores the token in an HttpOnly cookie that browsers send to the sign-in endpoints only."""
    response.set_cookie(
        DEVICE_COOKIE,
        token,
        max_age=timedelta(days=conf.TRUSTED_DEVICE_DAYS),
        path=reverse("accounts:login"),
        secure=True,
        httponly=True,
        samesite="Lax",
    )


class SessionListViewSet(ViewSet):
    @extend_schema(operation_id="auth_sessions_list", responses=SessionsReply)
    def list(self, request: Request) -> Response:
        current = request.auth
        rows = selectors.sessions_of(request.user.id)
        return Response({"sessions": [SessionSerializer.render(row, current=current) for row in rows]})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_sessions_end", request=None, responses=OkReply)
    def end(self, request: Request, session_id: str) -> Response:
        sessions.end(user=request.user, session_id=parse_id(session_id))
        return Response()

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_sessions_end_others", request=None, responses=SessionsEndedReply)
    def end_others(self, request: Request) -> Response:
        revoked = sessions.revoke_all(user_id=request.user.id, reason="revoked", but=request.auth)
        return Response({"revoked": revoked})


class DeviceViewSet(ViewSet):
    @extend_schema(operation_id="auth_devices_list", responses=TrustedDevicesReply)
    def list(self, request: Request) -> Response:
        rows = selectors.live_devices(request.user.id)
        return Response({"devices": [TrustedDeviceSerializer.render(row) for row in rows]})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_devices_remove", request=None, responses=OkReply)
    def remove(self, request: Request, device_id: str) -> Response:
        trusted_devices.remove_device(user=request.user, device_id=parse_id(device_id))
        return Response()
