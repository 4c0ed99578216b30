"""Password, address, export and deletion of an account: each requires an action token."""

from typing import Any

from django.http import FileResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person, session_of
from accounts.permissions import IsVerified
from accounts.serializers.security import (
    ChangeEmailInput,
    ChangeEmailOutput,
    ChangeEmailVerifyInput,
    ChangePasswordInput,
    DeletionOutput,
    NewTokenOutput,
)
from accounts.serializers.users import SentenceOutput
from accounts.services import email_change, erasure, export, password, step_up
from accounts.viewsets.actions import ACTION_TOKEN, require_action_token
from core.request_context import network_of_request
from core.validation import checked


class SecurityViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(
        operation_id="auth_change_password",
        parameters=[ACTION_TOKEN],
        request=ChangePasswordInput,
        responses=NewTokenOutput,
    )
    def change_password(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.CHANGE_PASSWORD)
        form = checked(ChangePasswordInput, request)
        token = password.change(user=person(request), session=session_of(request), action_token=action_token, **form)
        return Response({"message": _("Your password was changed."), "token": token})

    @extend_schema(
        operation_id="auth_change_email",
        parameters=[ACTION_TOKEN],
        request=ChangeEmailInput,
        responses=SentenceOutput,
    )
    def change_email(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.CHANGE_EMAIL)
        form = checked(ChangeEmailInput, request)
        email_change.start(user=person(request), session=session_of(request), action_token=action_token, **form)
        return Response({"message": _("A code was sent to the new address.")})

    @extend_schema(
        operation_id="auth_change_email_verify",
        request=ChangeEmailVerifyInput,
        responses=ChangeEmailOutput,
    )
    def verify_email(self, request: Request) -> Response:
        form = checked(ChangeEmailVerifyInput, request)
        network = network_of_request(request._request)
        user = email_change.verify(user=person(request), network=network, **form)
        return Response({"message": _("Your e-mail address was changed."), "email": user.email})

    @extend_schema(
        operation_id="auth_delete_account",
        parameters=[ACTION_TOKEN],
        request=None,
        responses=DeletionOutput,
    )
    def delete_account(self, request: Request) -> Response:
        action_token = require_action_token(request, step_up.DELETE_ACCOUNT)
        erase_after = erasure.schedule(user=person(request), action_token=action_token)
        message = _("Your account will be deleted. Sign in before then to keep it.")
        return Response({"message": message, "erase_after": erase_after})


class ExportViewSet(ViewSet):
    permission_classes = [IsVerified]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """A client that accepts only zip files gets one; its errors are JSON all the same."""
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        operation_id="auth_export",
        parameters=[ACTION_TOKEN],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def export(self, request: Request) -> FileResponse:
        action_token = require_action_token(request, step_up.EXPORT_DATA)
        file = export.export(user=person(request), action_token=action_token)
        name = f"parley-{person(request).username}-{timezone.now():%Y-%m-%d}.zip"
        response = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
        response["Cache-Control"] = "no-store"
        return response
