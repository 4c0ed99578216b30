"""Django's error handlers: the JSON envelope, and a page for staff in the admin."""

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
    JsonResponse,
)
from django.urls import Resolver404, resolve, reverse
from rest_framework import exceptions

from core.api.errors import _as_page, _server_error, plain_envelope
from core.request_context import is_in_admin
from portal.pages import API_PREFIX, page


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler400: requests that never reached a view."""
    if isinstance(exception, RequestDataTooBig):
        return _as_page(request, plain_envelope(exception), "large")
    return _as_page(request, plain_envelope(SuspiciousOperation()), "unreadable")


def _unknown(request: HttpRequest) -> HttpResponse:
    return _as_page(request, plain_envelope(Http404()), "absent")


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _as_page(request, plain_envelope(PermissionDenied()), "denied")


def method_not_allowed(request: HttpRequest, allowed: str) -> HttpResponse:
    refused = plain_envelope(exceptions.MethodNotAllowed(request.method or ""))
    response = _as_page(request, refused, "unreadable")
    response["Allow"] = allowed
    return response


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW, which guards the forms of the admin only."""
    # A browser that blocks cookies never sends the one that the form is checked against, so a reload does not help.
    hint = "stale" if settings.CSRF_COOKIE_NAME in request.COOKIES else "cookieless"
    return _as_page(request, plain_envelope(PermissionDenied()), hint)


def server_error(request: HttpRequest) -> HttpResponse:
    return _as_page(request, JsonResponse(_server_error(), status=500), "broken")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The page or the error body of an unknown path: HTML for browsers, the envelope for everything else."""
    accepts_html = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if is_in_admin(request) or not accepts_html:
        return _unknown(request)
    without_slash = request.path_info.rstrip("/")
    if without_slash == "/api/v1" and settings.DOCS:
        return HttpResponseRedirect(reverse("reference"))
    # If the view of the path with the slash answered 404, it is switched off, and the other path would lead back to it.
    if without_slash != request.path_info and not _exists(request.path_info) and _exists(without_slash):
        return HttpResponsePermanentRedirect(without_slash)
    if request.path_info.startswith(API_PREFIX):
        return _unknown(request)
    return page(request, "not_found", status=404)


def _exists(path: str) -> bool:
    try:
        return resolve(path).func is not not_found and not path.startswith("/api/v1")
    except Resolver404:
        return False
