"""Step-up: the confirmation that sensitive actions require."""

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person, session_of
from accounts.conf import conf
from accounts.models import PendingToken
from accounts.permissions import IsVerified
from accounts.serializers.security import ActionOutput, ActionVerifyInput, ChallengeInput, ChallengeOutput
from accounts.services import step_up
from core.request_context import network_of_request
from core.throttles import Throttle, throttles, user
from core.validation import checked

ACTION_TOKEN = OpenApiParameter(
    "X-Action-Token",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="From action-verify; good for one use of one action by one session.",
)


def require_action_token(request: Request, action: str) -> PendingToken:
    """The action token in the request's X-Action-Token header. ActionTokenRequired, ActionTokenInvalid."""
    return step_up.verify_action_token(
        user=person(request),
        session=session_of(request),
        action=action,
        token=request.headers.get("X-Action-Token", "").strip(),
    )


class ActionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(Throttle("action_challenge", by=user))
    @extend_schema(operation_id="auth_action_challenge", request=ChallengeInput, responses=ChallengeOutput)
    def challenge(self, request: Request) -> Response:
        form = checked(ChallengeInput, request)
        action = step_up.action_named(form["action"])
        if action is None:
            raise ValidationError({"action": [_("There is no such action.")]})
        token = step_up.challenge(user=person(request), session=session_of(request), action=action)
        return Response({"challenge_token": token, "expires_in": conf.CHALLENGE_MINUTES * 60})

    @extend_schema(operation_id="auth_action_verify", request=ActionVerifyInput, responses=ActionOutput)
    def verify(self, request: Request) -> Response:
        form = checked(ActionVerifyInput, request)
        token = step_up.verify(
            user=person(request),
            session=session_of(request),
            network=network_of_request(request._request),
            **form,
        )
        return Response({"action_token": token, "expires_in": conf.ACTION_TOKEN_MINUTES * 60})
