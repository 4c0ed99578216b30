"""The way back after a change of the address, from the mail to the old one.

Opening the link shows a page and does nothing: programs that scan mails open every link in them.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import ratelimits
from accounts.exceptions import NotFound, RateLimited
from accounts.serializers.account import SentenceOutput
from accounts.serializers.inputs import checked
from accounts.serializers.security import EmailUndoInput
from accounts.services import email_change


class EmailUndoViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(operation_id="auth_change_email_undo", request=EmailUndoInput, responses=SentenceOutput)
    def undo(self, request: Request) -> Response:
        ratelimits.check("email_undo", ratelimits.client_key(request._request))
        form = checked(EmailUndoInput, request)
        email_change.undo(**form)
        return Response({"message": _("Your old address is back. Please sign in and choose a new password.")})


@require_http_methods(["GET", "HEAD", "POST"])
def email_undo_page(request: HttpRequest, token: str) -> HttpResponse:
    """Asks (GET) and undoes (POST); a used or old link is a page with 404."""
    try:
        ratelimits.check("email_undo", ratelimits.client_key(request))
        change = email_change.pending_undo(token)
        language = change.user.language
        if request.method == "POST":
            email_change.undo(token=token)
            return _page(request, "done", language, address=change.old_email)
    except NotFound:
        return _page(request, "gone", None, status=404)
    except RateLimited as error:
        response = _page(request, "wait", None, status=429)
        response["Retry-After"] = str(error.retry_after)
        return response
    return _page(request, "ask", language, address=change.old_email)


def _page(
    request: HttpRequest, state: str, language: str | None, *, address: str = "", status: int = 200
) -> HttpResponse:
    with translation.override(language or translation.get_language()):
        response = render(request, "accounts/email_undo.html", {"state": state, "address": address}, status=status)
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
