"""Undoing a change of the address by the link in the mail to the old one.

Opening the link only shows a page, because mail scanners open every link.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.serializers.security import ChoosePasswordInput, EmailUndoInput
from accounts.serializers.users import NoticeOutput
from accounts.services import email_change, password
from core import ratelimits
from core.conf import project
from core.exceptions import NotFound, RateLimited
from core.fields import checked
from core.request_context import network_of_request
from core.throttles import Throttle, network, throttles

EMAIL_UNDO = Throttle("email_undo", by=network)


class EmailUndoViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(EMAIL_UNDO)
    @extend_schema(operation_id="auth_change_email_undo", request=EmailUndoInput, responses=NoticeOutput)
    def undo(self, request: Request) -> Response:
        form = checked(EmailUndoInput, request.data)
        email_change.undo(**form)
        return Response(
            {"message": _("Your old address has been restored. Choose a new password with “Forgot password”.")}
        )


@throttles(EMAIL_UNDO)
@require_http_methods(["GET", "HEAD", "POST"])
def email_undo_page(request: HttpRequest, token: str) -> HttpResponse:
    """The page of the link: a question (GET), the undo (POST), then a new password; 404 for a used or old link."""
    try:
        ratelimits.check(EMAIL_UNDO.scope, network_of_request(request))
        if "password_token" in request.POST:
            return _choose_password(request)
        change = email_change.pending_undo(token)
        language = change.user.language
        if request.method == "POST":
            result = email_change.undo(token=token)
            return _page(request, "done", language, address=change.old_email, password_token=result.password_token)
    except NotFound:
        return _page(request, "gone", None, status=404)
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
            form = checked(ChoosePasswordInput, request.POST)
            user = password.choose(token=token, new_password=form["new_password"])
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
