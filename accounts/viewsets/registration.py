"""Sign-up, confirmation of the address, and password reset."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.exceptions import EmailTaken
from accounts.serializers.security import EmailInput, ResetPasswordInput, SignUpInput, VerifyInput
from accounts.serializers.users import AccountOutput, NoticeOutput, SignInOutput
from accounts.services import password, registration
from accounts.throttles import network_and_email
from accounts.viewsets.login import DEVICE_NAME
from core.fields import checked
from core.request_context import caller_of, prefer_language
from core.text import supported_language
from core.throttles import Throttle, network, throttles


class RegistrationViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(Throttle("signup", by=network))
    @extend_schema(operation_id="auth_signup", request=SignUpInput, responses={201: NoticeOutput})
    def signup(self, request: Request) -> Response:
        prefer_language(supported_language(request.data.get("language")))
        form = checked(SignUpInput, request.data)
        try:
            registration.sign_up(**form, network=network(request))
        except EmailTaken:
            registration.mail_owner(email=form["email"])
            raise
        return Response({"message": _("A confirmation code was sent to your e-mail address.")}, status=201)

    @throttles(Throttle("verify_network", by=network), Throttle("verify", by=network_and_email))
    @extend_schema(operation_id="auth_verify", request=VerifyInput, responses=SignInOutput, parameters=[DEVICE_NAME])
    def verify(self, request: Request) -> Response:
        form = checked(VerifyInput, request.data)
        user, token = registration.verify_email(**form, caller=caller_of(request._request))
        return Response({"token": token, "user": AccountOutput.render(user)})

    @throttles(Throttle("resend_otp_network", by=network), Throttle("resend_otp", by=network_and_email))
    @extend_schema(operation_id="auth_resend_otp", request=EmailInput, responses=NoticeOutput)
    def resend(self, request: Request) -> Response:
        form = checked(EmailInput, request.data)
        registration.resend(email=form["email"], network=network(request))
        return Response({"message": _("If this address is waiting to be confirmed, a new code was sent to it.")})


class ForgottenPasswordViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(Throttle("forgot_password_network", by=network), Throttle("forgot_password", by=network_and_email))
    @extend_schema(operation_id="auth_forgot_password", request=EmailInput, responses=NoticeOutput)
    def forgot(self, request: Request) -> Response:
        form = checked(EmailInput, request.data)
        password.forgot(email=form["email"], network=network(request))
        return Response({"message": _("If there is an account with this address, a code was sent to it.")})

    @throttles(Throttle("verify_reset_network", by=network), Throttle("verify_reset", by=network_and_email))
    @extend_schema(operation_id="auth_verify_reset", request=ResetPasswordInput, responses=NoticeOutput)
    def reset(self, request: Request) -> Response:
        form = checked(ResetPasswordInput, request.data)
        password.reset(**form, network=network(request))
        return Response({"message": _("Your password was changed. Please sign in with it.")})
