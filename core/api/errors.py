"""Turns any exception into the error envelope: ok, error, message, request_id (and fields, retry_after)."""

import logging
from typing import Any

from django.contrib import admin
from django.core.exceptions import ImproperlyConfigured, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from core import request_context
from core.api.exceptions import RateLimited, ServiceUnavailable
from core.database.connections import discard_connection, is_read_only
from core.text import encodable

logger = logging.getLogger("parley.errors")

DATABASE_RETRY_SECONDS = 2
# A full disk or too many open files, which take longer to pass.
DISK_RETRY_SECONDS = 60

# DRF's own exceptions under the codes of the contract.
CODES: dict[type[exceptions.APIException], str] = {
    exceptions.ParseError: "parse_error",
    exceptions.ValidationError: "validation_error",
    exceptions.NotAuthenticated: "token_invalid",
    exceptions.AuthenticationFailed: "token_invalid",
    exceptions.PermissionDenied: "not_found",
    exceptions.NotFound: "not_found",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.Throttled: "rate_limited",
}


def body_of(
    code: str, message: str, *, fields: dict[str, list[str]] | None = None, retry_after: int | None = None
) -> dict[str, Any]:
    """The error body, the same for every entry point."""
    body: dict[str, Any] = {"ok": False, "error": code, "message": encodable(message)}
    if fields is not None:
        body["fields"] = {encodable(name): [encodable(text) for text in texts] for name, texts in fields.items()}
    if retry_after is not None:
        body["retry_after"] = retry_after
    body["request_id"] = request_context.request_id()
    return body


def _sentences(value: Any) -> list[str]:
    """The sentences of DRF's nested details."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [sentence for inner in value for sentence in _sentences(inner)]
    return [str(value)]


def envelope(error: Exception, context: dict[str, Any] | None = None) -> Response:
    """DRF's EXCEPTION_HANDLER, also used for errors on the socket: never None, never a traceback."""
    if isinstance(error, Http404):
        error = exceptions.NotFound(_("Not found."))
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied(_("Not found."))
    if isinstance(error, exceptions.ValidationError):
        detail: Any = error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
        fields = {str(name): _sentences(value) for name, value in detail.items()}
        return _response(400, body_of("validation_error", _("Some fields are invalid."), fields=fields))
    if isinstance(error, exceptions.APIException):
        code = CODES.get(type(error), error.default_code)
        body = body_of(code, str(error.detail), retry_after=getattr(error, "retry_after", None))
        body |= getattr(error, "more", {})
        return _response(error.status_code, body)
    if isinstance(error, RequestDataTooBig):
        return _response(413, body_of("file_too_large", _("The request is too large.")))
    if isinstance(error, SuspiciousOperation):
        return _response(400, body_of("parse_error", _("The request could not be read.")))
    if isinstance(error, DatabaseError) and is_read_only(error):
        logger.error("the database only reads: it is no longer the primary")
        discard_connection()
        return envelope(_busy())
    if isinstance(error, OperationalError | InterfaceError):
        logger.error("database unavailable: %s", error.__class__.__name__, exc_info=error)
        return envelope(_busy())
    if isinstance(error, OSError):
        logger.error("operating system error: %s", error, exc_info=error)
        return envelope(ServiceUnavailable(retry_after=DISK_RETRY_SECONDS))
    if isinstance(error, ImproperlyConfigured):
        raise error
    logger.exception("unhandled error", exc_info=error)
    return _response(500, _server_error())


def _server_error() -> dict[str, Any]:
    return body_of("server_error", _("Something went wrong on our side."))


def _busy() -> ServiceUnavailable:
    return ServiceUnavailable(retry_after=DATABASE_RETRY_SECONDS)


def busy() -> HttpResponse:
    """The 503 reply for a request when no thread was free."""
    return plain_envelope(_busy())


def _response(code: int, body: dict[str, Any]) -> Response:
    set_rollback()
    response = Response(body, status=code)
    if "retry_after" in body:
        response["Retry-After"] = str(body["retry_after"])
    if code == status.HTTP_401_UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="api"'
    return response


def plain_envelope(error: Exception) -> HttpResponse:
    """The envelope for exceptions raised outside of DRF views: a response without a renderer."""
    response = envelope(error)
    headers = {name: value for name, value in response.items() if name != "Content-Type"}
    return JsonResponse(response.data, status=response.status_code, headers=headers)


def _as_page(request: HttpRequest, response: HttpResponse, reason: str) -> HttpResponse:
    """This reply; for staff in the admin an HTML page with its status."""
    if not request_context.is_in_admin(request):
        return response
    context = {"reason": reason, "request_id": request_context.request_id(), "site_header": admin.site.site_header}
    return render(request, "admin/refused.html", context, status=response.status_code)


def rate_limited(request: HttpRequest, error: RateLimited) -> HttpResponse:
    """The 429 reply of a view outside of the API."""
    response = _as_page(request, plain_envelope(error), "wait")
    response["Retry-After"] = str(error.retry_after)
    return response
