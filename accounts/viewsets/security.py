"""Step-up confirmation, and the actions that require it: password, address, two-step verification, export, deletion.

A change of the address can be undone by the link in the mail to the old one. Opening the link only shows a page, because
mail scanners open every link.
"""

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import selectors
from accounts.conf import conf
from accounts.exceptions import EmailTaken
from accounts.hashers import hashes_password
from accounts.models import OneTimeToken
from accounts.permissions import IsVerified, needs_action_token
from accounts.serializers.security import (
    AccountDeletionReply,
    ActionReply,
    ActionVerifyInput,
    ChallengeInput,
    ChallengeReply,
    ChangeEmailInput,
    ChangeEmailReply,
    ChangeEmailVerifyInput,
    ChangePasswordInput,
    ChoosePasswordInput,
    EmailUndoInput,
    PasswordChangedReply,
    RecoveryCodesReply,
    SecurityChangeSerializer,
    SecurityChangesReply,
    TwoStepChangeInput,
    TwoStepDisableInput,
    TwoStepEnableInput,
    TwoStepStatusReply,
)
from accounts.serializers.users import NoticeReply
from accounts.services import action_checks, email_change, erasure, export, password
from accounts.sign_in import action_tokens, second_password
from core.api import ratelimits
from core.api.exceptions import NotFound, RateLimited
from core.api.renderers import FileNegotiation, archive
from core.api.serializers import OkReply, checked
from core.api.throttles import Throttle, network, throttles, user
from core.conf import project
from core.network import network_of_request


class ActionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @hashes_password
    @throttles(Throttle("action_challenge", by=user))
    @extend_schema(operation_id="auth_action_challenge", request=ChallengeInput, responses=ChallengeReply)
    def challenge(self, request: Request) -> Response:
        data = checked(ChallengeInput, request.data)
        action = action_tokens.named(data.pop("action"))
        action_checks.check(user=request.user, network=network(request), action=action, **data)
        token = action_tokens.challenge(user=request.user, session=request.auth, action=action)
        return Response({"challenge_token": token, "expires_in": conf.CHALLENGE_MINUTES * 60})

    @extend_schema(operation_id="auth_action_verify", request=ActionVerifyInput, responses=ActionReply)
    def verify(self, request: Request) -> Response:
        data = checked(ActionVerifyInput, request.data)
        token = action_tokens.verify(user=request.user, session=request.auth, network=network(request), **data)
        return Response({"action_token": token, "expires_in": conf.ACTION_TOKEN_MINUTES * 60})


class SecurityViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="auth_security_changes", responses=SecurityChangesReply)
    def changes(self, request: Request) -> Response:
        rows = selectors.security_changes(request.user)
        return Response({"changes": [SecurityChangeSerializer.render(row) for row in rows]})

    @hashes_password
    @extend_schema(operation_id="auth_change_password", request=ChangePasswordInput, responses=PasswordChangedReply)
    @needs_action_token(action_tokens.Action.CHANGE_PASSWORD)
    def change_password(self, request: Request, action_token: OneTimeToken) -> Response:
        data = checked(ChangePasswordInput, request.data)
        token = password.change(user=request.user, session=request.auth, action_token=action_token, **data)
        return Response(PasswordChangedReply.of_token(token, message=_("Your password was changed.")))

    @extend_schema(operation_id="auth_change_email", request=ChangeEmailInput, responses=NoticeReply)
    @needs_action_token(action_tokens.Action.CHANGE_EMAIL)
    def change_email(self, request: Request, action_token: OneTimeToken) -> Response:
        data = checked(ChangeEmailInput, request.data)
        email_change.start(user=request.user, session=request.auth, action_token=action_token, **data)
        return Response({"message": _("A code was sent to the new address.")})

    @extend_schema(operation_id="auth_change_email_verify", request=ChangeEmailVerifyInput, responses=ChangeEmailReply)
    def verify_email(self, request: Request) -> Response:
        data = checked(ChangeEmailVerifyInput, request.data)
        user = email_change.verify(user=request.user, network=network(request), **data)
        return Response({"message": _("Your e-mail address was changed."), "email": user.email})

    @extend_schema(operation_id="auth_delete_account", request=None, responses=AccountDeletionReply)
    @needs_action_token(action_tokens.Action.DELETE_ACCOUNT)
    def delete_account(self, request: Request, action_token: OneTimeToken) -> Response:
        erase_after = erasure.schedule_erasure(user=request.user, action_token=action_token)
        message = _("Your account will be deleted. Sign in before then to keep it.")
        return Response({"message": message, "erase_after": erase_after})


class ExportViewSet(ViewSet):
    permission_classes = [IsVerified]
    content_negotiation_class = FileNegotiation
    # No HEAD: it would spend the action token on a file that is not sent.
    http_method_names = ["get", "options"]

    @extend_schema(operation_id="auth_export", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @needs_action_token(action_tokens.Action.EXPORT_DATA)
    def export(self, request: Request, action_token: OneTimeToken) -> FileResponse:
        file = export.export(user=request.user, action_token=action_token)
        name = export.file_name(request.user.username, f"{timezone.now():%Y-%m-%d}")
        return archive(file, filename=name)


class SecondPasswordViewSet(ViewSet):
    permission_classes = [IsVerified]

    @extend_schema(operation_id="auth_two_step_status", responses=TwoStepStatusReply)
    def status(self, request: Request) -> Response:
        user = request.user
        return Response(TwoStepStatusReply.render(user, codes_left=user.recovery_codes.unused().count()))

    @hashes_password
    @extend_schema(operation_id="auth_two_step_enable", request=TwoStepEnableInput, responses=RecoveryCodesReply)
    @needs_action_token(action_tokens.Action.TWO_STEP_ENABLE)
    def enable(self, request: Request, action_token: OneTimeToken) -> Response:
        data = checked(TwoStepEnableInput, request.data)
        codes = second_password.enable(user=request.user, action_token=action_token, **data)
        return Response({"recovery_codes": codes})

    @hashes_password
    @extend_schema(operation_id="auth_two_step_change", request=TwoStepChangeInput, responses=OkReply)
    @needs_action_token(action_tokens.Action.TWO_STEP_CHANGE)
    def change(self, request: Request, action_token: OneTimeToken) -> Response:
        data = checked(TwoStepChangeInput, request.data)
        second_password.change(user=request.user, session=request.auth, action_token=action_token, **data)
        return Response()

    @hashes_password
    @extend_schema(operation_id="auth_two_step_disable", request=TwoStepDisableInput, responses=OkReply)
    @needs_action_token(action_tokens.Action.TWO_STEP_DISABLE)
    def disable(self, request: Request, action_token: OneTimeToken) -> Response:
        data = checked(TwoStepDisableInput, request.data)
        second_password.disable(user=request.user, action_token=action_token, **data)
        return Response()

    @extend_schema(operation_id="auth_two_step_recovery_codes", request=None, responses=RecoveryCodesReply)
    @needs_action_token(action_tokens.Action.RECOVERY_CODES)
    def recovery_codes(self, request: Request, action_token: OneTimeToken) -> Response:
        codes = second_password.new_recovery_codes(user=request.user, action_token=action_token)
        return Response({"recovery_codes": codes})


EMAIL_UNDO = Throttle("email_undo", by=network)


class EmailUndoViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(EMAIL_UNDO)
    @extend_schema(operation_id="auth_change_email_undo", request=EmailUndoInput, responses=NoticeReply)
    def undo(self, request: Request) -> Response:
        data = checked(EmailUndoInput, request.data)
        email_change.undo(**data)
        return Response(
            {"message": _("Your old address has been restored. Choose a new password with “Forgot password”.")}
        )


@throttles(EMAIL_UNDO)
@require_http_methods(["GET", "HEAD", "POST"])
def email_undo_page(request: HttpRequest, token: str) -> HttpResponse:
    """The page of the link: a question (GET), the undo (POST), then a new password; 404 for a used or old link, 409 when
    the old address was given to another account."""
    try:
        ratelimits.check(EMAIL_UNDO.scope, network_of_request(request))
        if "password_token" in request.POST:
            return _choose_password(request)
        change = email_change.pending_undo(token)
        language = change.user.language
        if request.method == "POST":
            password_token = email_change.undo(token=token)
            return _page(request, "done", language, address=change.old_email, password_token=password_token)
    except NotFound:
        return _page(request, "gone", None, status=404)
    except EmailTaken:
        return _page(request, "taken", language, status=409)
    except RateLimited as error:
        response = _page(request, "wait", None, status=429)
        response["Retry-After"] = str(error.retry_after)
        return response
    return _page(request, "ask", language, address=change.old_email)


def _choose_password(request: HttpRequest) -> HttpResponse:
    """Sets the new password, or shows the form again with what is wrong with it. NotFound without a live token."""
    token = request.POST["password_token"]
    language = password.user_of_token(token=token).language
    with translation.override(language):
        try:
            data = checked(ChoosePasswordInput, request.POST)
            user = password.choose(token=token, new_password=data["new_password"], network=network_of_request(request))
        except ValidationError as error:
            errors = [text for texts in dict(error.detail).values() for text in texts]
            return _page(request, "again", language, password_token=token, errors=errors, status=400)
    return _page(request, "chosen", language, address=user.email)


def _page(
    request: HttpRequest, state: str, language: str | None, *, status: int = 200, **context: object
) -> HttpResponse:
    with translation.override(language or translation.get_language()):
        context |= {"state": state, "product": project.PRODUCT_NAME}
        response = render(request, "accounts/email_undo.html", context, status=status)
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
