"""Sign-up and the proof of the address."""

from django.utils import translation
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import ratelimits
from accounts.exceptions import EmailTaken
from accounts.serializers.account import SentenceOutput, SignedInOutput, account
from accounts.serializers.inputs import checked
from accounts.serializers.registration import AddressInput, SignUpInput, VerifyInput
from accounts.services import registration
from accounts.viewsets.callers import DEVICE_NAME, caller_of


class RegistrationViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(operation_id="auth_signup", request=SignUpInput, responses={201: SentenceOutput})
    def signup(self, request: Request) -> Response:
        ratelimits.check("signup", ratelimits.client_key(request._request))
        form = checked(SignUpInput, request)
        if not getattr(request, "language_was_asked_for", True):
            translation.activate(form["language"])
        try:
            registration.sign_up(**form)
        except EmailTaken:
            email = form["email"]
            if ratelimits.allows("notice_mails", email):
                registration.tell_owner(email=email)
            raise
        return Response({"message": _("A confirmation code was sent to your e-mail address.")}, status=201)

    @extend_schema(operation_id="auth_verify", request=VerifyInput, responses=SignedInOutput, parameters=[DEVICE_NAME])
    def verify(self, request: Request) -> Response:
        form = checked(VerifyInput, request)
        ratelimits.check("verify", form["email"])
        user, token = registration.verify_email(**form, caller=caller_of(request))
        return Response({"token": token, "user": account(user)})

    @extend_schema(operation_id="auth_resend_otp", request=AddressInput, responses=SentenceOutput)
    def resend(self, request: Request) -> Response:
        form = checked(AddressInput, request)
        email = form["email"]
        ratelimits.check("resend_otp", email)
        if ratelimits.allows("code_mails_hour", email) and ratelimits.allows("code_mails_day", email):
            registration.resend(email=email)
        return Response({"message": _("If this address is waiting to be confirmed, a new code was sent to it.")})
