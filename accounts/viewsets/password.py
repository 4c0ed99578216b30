"""Password reset."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.serializers.security import AddressInput, ResetInput
from accounts.serializers.users import SentenceOutput
from accounts.services import password
from accounts.throttles import network_and_email
from core.throttles import Throttle, network, throttles
from core.validation import checked


class ForgottenPasswordViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(
        Throttle("forgot_password_network", by=network),
        Throttle("forgot_password", by=network_and_email),
    )
    @extend_schema(operation_id="auth_forgot_password", request=AddressInput, responses=SentenceOutput)
    def forgot(self, request: Request) -> Response:
        form = checked(AddressInput, request)
        password.forgot(email=form["email"], network=network(request))
        return Response({"message": _("If there is an account with this address, a code was sent to it.")})

    @throttles(Throttle("verify_reset_network", by=network), Throttle("verify_reset", by=network_and_email))
    @extend_schema(operation_id="auth_verify_reset", request=ResetInput, responses=SentenceOutput)
    def reset(self, request: Request) -> Response:
        form = checked(ResetInput, request)
        password.reset(**form, network=network(request))
        return Response({"message": _("Your password was changed. Please sign in with it.")})
