"""Two-step verification as a setting."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person, session_of
from accounts.permissions import IsVerified
from accounts.serializers.security import (
    RecoveryCodesOutput,
    TwoStepChangeInput,
    TwoStepDisableInput,
    TwoStepEnableInput,
    TwoStepStatusOutput,
)
from accounts.services import recovery_codes, second_password, step_up
from accounts.viewsets.actions import ACTION_TOKEN, require_action_token
from core.serializers import OkReply
from core.validation import checked


class SecondPasswordViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="auth_two_step_status", responses=TwoStepStatusOutput)
    def status(self, request: Request) -> Response:
        user = person(request)
        return Response(TwoStepStatusOutput.render(user, codes_left=recovery_codes.left(user=user)))

    @extend_schema(
        operation_id="auth_two_step_enable",
        parameters=[ACTION_TOKEN],
        request=TwoStepEnableInput,
        responses=RecoveryCodesOutput,
    )
    def enable(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.TWO_STEP_ENABLE)
        form = checked(TwoStepEnableInput, request)
        codes = second_password.enable(user=person(request), action_token=action_token, **form)
        return Response({"recovery_codes": codes})

    @extend_schema(
        operation_id="auth_two_step_change",
        parameters=[ACTION_TOKEN],
        request=TwoStepChangeInput,
        responses=OkReply,
    )
    def change(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.TWO_STEP_CHANGE)
        form = checked(TwoStepChangeInput, request)
        second_password.change(user=person(request), session=session_of(request), action_token=action_token, **form)
        return Response({})

    @extend_schema(
        operation_id="auth_two_step_disable",
        parameters=[ACTION_TOKEN],
        request=TwoStepDisableInput,
        responses=OkReply,
    )
    def disable(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.TWO_STEP_DISABLE)
        form = checked(TwoStepDisableInput, request)
        second_password.disable(user=person(request), action_token=action_token, **form)
        return Response({})

    @extend_schema(
        operation_id="auth_two_step_recovery_codes",
        parameters=[ACTION_TOKEN],
        request=None,
        responses=RecoveryCodesOutput,
    )
    def recovery_codes(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.RECOVERY_CODES)
        codes = second_password.new_recovery_codes(user=person(request), action_token=action_token)
        return Response({"recovery_codes": codes})
