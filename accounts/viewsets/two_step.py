"""The second step of a sign-in."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import TwoStepAuthentication, second_step_of
from accounts.conf import conf
from accounts.serializers.security import (
    RecoveredOutput,
    RecoveryInput,
    SecondStepOutput,
    TwoStepInput,
)
from accounts.serializers.users import AccountOutput, SentenceOutput
from accounts.services import two_step
from accounts.throttles import network_and_account
from accounts.viewsets.callers import DEVICE_COOKIE, caller_of
from core.throttles import Throttle, network, throttles
from core.validation import checked

SECONDS_A_DAY = 86_400


class TwoStepViewSet(ViewSet):
    authentication_classes = [TwoStepAuthentication]
    permission_classes = [AllowAny]

    @throttles(Throttle("two_step", by=network_and_account))
    @extend_schema(operation_id="auth_two_step", request=TwoStepInput, responses=SecondStepOutput)
    def verify(self, request: Request) -> Response:
        form = checked(TwoStepInput, request)
        done = two_step.with_password(pending=second_step_of(request), **form, caller=caller_of(request))
        body: dict[str, Any] = {"token": done.token, "user": AccountOutput.render(done.user)}
        is_browser = "Origin" in request.headers
        if done.device_token is not None and not is_browser:
            body["device_token"] = done.device_token
        response = Response(body)
        if done.device_token is not None and is_browser:
            _set_cookie(response, done.device_token)
        return response

    @throttles(
        Throttle("resend_two_step_network", by=network),
        Throttle("resend_two_step", by=network_and_account),
    )
    @extend_schema(operation_id="auth_two_step_resend", request=None, responses=SentenceOutput)
    def resend(self, request: Request) -> Response:
        two_step.resend(pending=second_step_of(request), network=network(request))
        return Response({"message": _("We have sent you an e-mail.")})

    @throttles(Throttle("two_step_forgot", by=network_and_account))
    @extend_schema(operation_id="auth_two_step_forgot", request=RecoveryInput, responses=RecoveredOutput)
    def recover(self, request: Request) -> Response:
        form = checked(RecoveryInput, request)
        done = two_step.with_recovery_code(
            pending=second_step_of(request),
            typed=form["recovery_code"],
            caller=caller_of(request),
        )
        return Response(
            {
                "token": done.token,
                "user": AccountOutput.render(done.user),
                "recovery_codes_left": done.recovery_codes_left,
            }
        )


def _set_cookie(response: Response, token: str) -> None:
    """Stores the token in an HttpOnly cookie that browsers send to the sign-in endpoints only."""
    response.set_cookie(
        DEVICE_COOKIE,
        token,
        max_age=conf.TRUSTED_DEVICE_DAYS * SECONDS_A_DAY,
        path="/api/v1/auth/login",
        secure=True,
        httponly=True,
        samesite="Lax",
    )
