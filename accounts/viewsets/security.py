"""Step-up confirmation, and the actions that require it: password, address, two-step verification, export, deletion."""

from django.http import FileResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.conf import conf
from accounts.models import PendingToken
from accounts.permissions import IsVerified, needs_action_token
from accounts.serializers.security import (
    AccountDeletionOutput,
    ActionOutput,
    ActionVerifyInput,
    ChallengeInput,
    ChallengeOutput,
    ChangeEmailInput,
    ChangeEmailOutput,
    ChangeEmailVerifyInput,
    ChangePasswordInput,
    PasswordChangedOutput,
    RecoveryCodesOutput,
    TwoStepChangeInput,
    TwoStepDisableInput,
    TwoStepEnableInput,
    TwoStepStatusOutput,
)
from accounts.serializers.users import NoticeOutput
from accounts.services import email_change, erasure, export, password, second_password, step_up
from core.fields import checked
from core.renderers import FileNegotiation, archive
from core.request_context import network_of_request
from core.serializers import OkReply
from core.throttles import Throttle, throttles, user


class ActionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(Throttle("action_challenge", by=user))
    @extend_schema(operation_id="auth_action_challenge", request=ChallengeInput, responses=ChallengeOutput)
    def challenge(self, request: Request) -> Response:
        form = checked(ChallengeInput, request.data)
        action = step_up.action_named(form["action"])
        if action is None:
            raise ValidationError({"action": [_("There is no such action.")]})
        token = step_up.challenge(user=request.user, session=request.auth, action=action)
        return Response({"challenge_token": token, "expires_in": conf.CHALLENGE_MINUTES * 60})

    @extend_schema(operation_id="auth_action_verify", request=ActionVerifyInput, responses=ActionOutput)
    def verify(self, request: Request) -> Response:
        form = checked(ActionVerifyInput, request.data)
        token = step_up.verify(
            user=request.user, session=request.auth, network=network_of_request(request._request), **form
        )
        return Response({"action_token": token, "expires_in": conf.ACTION_TOKEN_MINUTES * 60})


class SecurityViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="auth_change_password", request=ChangePasswordInput, responses=PasswordChangedOutput)
    @needs_action_token(step_up.CHANGE_PASSWORD)
    def change_password(self, request: Request, action_token: PendingToken) -> Response:
        form = checked(ChangePasswordInput, request.data)
        token = password.change(user=request.user, session=request.auth, action_token=action_token, **form)
        return Response({"message": _("Your password was changed."), "token": token})

    @extend_schema(operation_id="auth_change_email", request=ChangeEmailInput, responses=NoticeOutput)
    @needs_action_token(step_up.CHANGE_EMAIL)
    def change_email(self, request: Request, action_token: PendingToken) -> Response:
        form = checked(ChangeEmailInput, request.data)
        email_change.start(user=request.user, session=request.auth, action_token=action_token, **form)
        return Response({"message": _("A code was sent to the new address.")})

    @extend_schema(operation_id="auth_change_email_verify", request=ChangeEmailVerifyInput, responses=ChangeEmailOutput)
    def verify_email(self, request: Request) -> Response:
        form = checked(ChangeEmailVerifyInput, request.data)
        network = network_of_request(request._request)
        user = email_change.verify(user=request.user, network=network, **form)
        return Response({"message": _("Your e-mail address was changed."), "email": user.email})

    @extend_schema(operation_id="auth_delete_account", request=None, responses=AccountDeletionOutput)
    @needs_action_token(step_up.DELETE_ACCOUNT)
    def delete_account(self, request: Request, action_token: PendingToken) -> Response:
        erase_after = erasure.schedule(user=request.user, action_token=action_token)
        message = _("Your account will be deleted. Sign in before then to keep it.")
        return Response({"message": message, "erase_after": erase_after})


class ExportViewSet(ViewSet):
    permission_classes = [IsVerified]
    content_negotiation_class = FileNegotiation

    @extend_schema(operation_id="auth_export", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @needs_action_token(step_up.EXPORT_DATA)
    def export(self, request: Request, action_token: PendingToken) -> FileResponse:
        file = export.export(user=request.user, action_token=action_token)
        name = export.file_name(request.user.username, f"{timezone.now():%Y-%m-%d}")
        return archive(file, filename=name)


class SecondPasswordViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="auth_two_step_status", responses=TwoStepStatusOutput)
    def status(self, request: Request) -> Response:
        user = request.user
        return Response(TwoStepStatusOutput.render(user, codes_left=user.recovery_codes.unused().count()))

    @extend_schema(operation_id="auth_two_step_enable", request=TwoStepEnableInput, responses=RecoveryCodesOutput)
    @needs_action_token(step_up.TWO_STEP_ENABLE)
    def enable(self, request: Request, action_token: PendingToken) -> Response:
        form = checked(TwoStepEnableInput, request.data)
        codes = second_password.enable(user=request.user, action_token=action_token, **form)
        return Response({"recovery_codes": codes})

    @extend_schema(operation_id="auth_two_step_change", request=TwoStepChangeInput, responses=OkReply)
    @needs_action_token(step_up.TWO_STEP_CHANGE)
    def change(self, request: Request, action_token: PendingToken) -> Response:
        form = checked(TwoStepChangeInput, request.data)
        second_password.change(user=request.user, session=request.auth, action_token=action_token, **form)
        return Response({})

    @extend_schema(operation_id="auth_two_step_disable", request=TwoStepDisableInput, responses=OkReply)
    @needs_action_token(step_up.TWO_STEP_DISABLE)
    def disable(self, request: Request, action_token: PendingToken) -> Response:
        form = checked(TwoStepDisableInput, request.data)
        second_password.disable(user=request.user, action_token=action_token, **form)
        return Response({})

    @extend_schema(operation_id="auth_two_step_recovery_codes", request=None, responses=RecoveryCodesOutput)
    @needs_action_token(step_up.RECOVERY_CODES)
    def recovery_codes(self, request: Request, action_token: PendingToken) -> Response:
        codes = second_password.new_recovery_codes(user=request.user, action_token=action_token)
        return Response({"recovery_codes": codes})
