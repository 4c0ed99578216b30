"""A forgotten password."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import ratelimits
from accounts.serializers.account import SentenceOutput
from accounts.serializers.inputs import checked
from accounts.serializers.registration import AddressInput, ResetInput
from accounts.services import password


class ForgottenPasswordViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(operation_id="auth_forgot_password", request=AddressInput, responses=SentenceOutput)
    def forgot(self, request: Request) -> Response:
        form = checked(AddressInput, request)
        email = form["email"]
        ratelimits.check("forgot_password", email)
        if ratelimits.allows("code_mails_hour", email) and ratelimits.allows("code_mails_day", email):
            password.forgot(email=email)
        return Response({"message": _("If there is an account with this address, a code was sent to it.")})

    @extend_schema(operation_id="auth_verify_reset", request=ResetInput, responses=SentenceOutput)
    def reset(self, request: Request) -> Response:
        form = checked(ResetInput, request)
        ratelimits.check("verify_reset", form["email"])
        password.reset(**form)
        return Response({"message": _("Your password was changed. Please sign in with it.")})
