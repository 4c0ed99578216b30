"""Middleware for every request: request id, access log and metrics, language, security headers, error envelope.

The API uses a bearer token and needs neither cookies nor CSRF protection. The middleware for those runs for the admin
only.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Any, cast
from urllib.parse import SplitResult

from corsheaders.middleware import CorsMiddleware
from csp.constants import HEADER, NONE
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import DisallowedHost, ImproperlyConfigured
from django.core.handlers.wsgi import LimitedStream
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
)
from django.middleware.security import SecurityMiddleware
from django.urls import get_resolver
from django.utils import translation
from django.utils.cache import patch_vary_headers

from core import languages, origins, request_context
from core.api import errors
from core.api.renderers import break_cycles
from core.languages import language_tag
from portal.pages import permissions
from server import error_pages, metrics

GetResponse = Callable[[HttpRequest], HttpResponse]

REFUSED_BODY_READ = 16 * 1024 * 1024  # how much of a refused body is still read
PATHS_BY_ADDRESS = frozenset({"/healthz", "/readyz", "/metrics"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

NO_PERMISSIONS = permissions()

access = logging.getLogger("parley.access")
logger = logging.getLogger(__name__)


class RequestContextMiddleware:
    """Gives the request an id, the client's if that is valid, and returns it in a header."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent_id = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = request_context.id_for(sent_id)
        token = request_context.enter(request_id=request_id, request=request)
        try:
            _read_chunked_body(request)
            response = self.get_response(request)
        except OSError as error:  # the disk is full, or the client has disconnected
            response = run_middleware(request, partial(errors.plain_envelope, error))
        finally:
            request_context.leave(token)
        response["X-Request-Id"] = request_id
        if response.status_code >= 400:
            _read_the_rest(request)
        if not response.streaming and not response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))  # else servers send it in chunks
        break_cycles(response)
        return response


def _read_chunked_body(request: HttpRequest) -> None:
    """Reads a chunked body. It has no Content-Length (.NET sends JSON this way), and Django and DRF would treat it as
    empty. Reads at most REFUSED_BODY_READ bytes, which is above every limit."""
    meta = request.META
    if request.method == "GET" or meta.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" not in meta:
        return
    body = SpooledTemporaryFile(max_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)  # noqa: SIM115  (as long as the request)
    while body.tell() < REFUSED_BODY_READ and (piece := meta["wsgi.input"].read(65_536)):
        body.write(piece)
    meta["CONTENT_LENGTH"] = str(body.tell())
    cast(Any, request)._stream = LimitedStream(cast(Any, body), body.tell())
    body.seek(0)


def _read_the_rest(request: HttpRequest) -> None:
    """Reads the rest of a refused body. If the server closed while the client sends, the client would see a broken
    connection instead of a 413."""
    stream = getattr(request, "_stream", None)
    remaining = REFUSED_BODY_READ
    try:
        while stream is not None and remaining > 0 and (piece := stream.read(min(remaining, 65_536))):
            remaining -= len(piece)
    except (OSError, ValueError):
        return  # the client has disconnected, or the stream is closed


class AccessLogMiddleware:
    """Logs one line per request (method, route, user, status, duration in ms) and counts it in the metrics.

    Both name the route, not the path: a path may contain the token of an image, and every id would make a series of its
    own.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - started
        route = request_context.route_of(request.resolver_match, request.path_info)
        error = _error_of(response)
        method = request.method if request.method in METHODS else "other"
        access.info(
            "%s %s %s",
            method,
            request_context.shown_path(route),
            response.status_code,
            extra={"status": response.status_code, "ms": round(seconds * 1000, 1), "error": error},
        )
        label = "none" if route is None else route or "/"
        metrics.REQUESTS.labels(method, label, response.status_code).inc()
        metrics.SECONDS.labels(label).observe(seconds)
        if response.status_code == 429:
            metrics.LIMITS.labels(error or "other").inc()
        return response


def _error_of(response: HttpResponse) -> str | None:
    """The code of an error envelope; None for anything else."""
    data = getattr(response, "data", None)
    return data.get("error") if isinstance(data, dict) else None


class LanguageMiddleware:
    """Replies in the language of `Accept-Language`; without the header, in the language of the account."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = languages.requested_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))
        cast(Any, request).language_was_asked_for = language is not None
        with translation.override(language or settings.LANGUAGE_CODE):
            response = self.get_response(request)
            response.setdefault("Content-Language", language_tag(translation.get_language() or settings.LANGUAGE_CODE))
        patch_vary_headers(response, ["Accept-Language"])
        return response


class ContentPolicyMiddleware(CSPMiddleware):
    """django-csp's policy for pages (CONTENT_SECURITY_POLICY). Other responses may load nothing."""

    NO_PAGE = f"default-src {NONE}; frame-ancestors {NONE}"

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not response.get("Content-Type", "").startswith("text/html"):
            vars(request).pop("csp_nonce", None)  # it refers to the request, which then could not be freed at once
            response.headers.setdefault(HEADER, self.NO_PAGE)
            return response
        str(vars(request).get("csp_nonce", ""))  # a nonce that was never read would not be in the policy
        response = super().process_response(request, response)
        # With DEBUG=1 django-csp skips every 404 for the sake of Django's page, which has inline styles. Outside the
        # admin the page is ours.
        is_ours = response.status_code == HTTPStatus.NOT_FOUND and not request_context.is_in_admin(request)
        if is_ours and HEADER not in response:
            response[HEADER] = build_policy(**asdict(self.get_policy_parts(request=request, response=response)))
        # Sorted, because django-csp takes the directives from a set, in a different order in each process.
        if HEADER in response:
            response[HEADER] = "; ".join(sorted(response[HEADER].split("; ")))
        return response


class SecurityHeadersMiddleware(SecurityMiddleware):
    """Django's own headers, two that it leaves to views, and the check of the host."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:  # type: ignore[override]
        return super().process_request(request) if _host_is_allowed(request) else error_pages.bad_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        response.setdefault("X-Frame-Options", "DENY")
        response.setdefault("Cross-Origin-Resource-Policy", _resource_policy(request))
        if response.get("Content-Type", "").startswith("text/html"):
            response.setdefault("Permissions-Policy", NO_PERMISSIONS)
        if response.get("Content-Type") == "application/json":
            response.setdefault("Cache-Control", "no-store")  # tokens and texts of users
        return response


def _resource_policy(request: HttpRequest) -> str:
    """The pages that may embed a reply. Every page may embed content that is the same for all users. Pictures are for
    pages of this site. Where other origins are allowed they are for every page, because the header cannot name
    origins."""
    is_public = request.path_info.startswith(settings.STATIC_URL)
    is_for_others = settings.CORS_ALLOWED_ORIGINS and request.path_info.startswith("/api/")
    return "cross-origin" if is_public or is_for_others else "same-origin"


def _host_is_allowed(request: HttpRequest) -> bool:
    """ALLOWED_HOSTS applies to every path except health checks and metrics, which are requested by IP address."""
    if request.path_info in PATHS_BY_ADDRESS:
        return True
    try:
        request.get_host()
    except DisallowedHost:
        # Otherwise a wrong ALLOWED_HOSTS would answer every request with 400, without a trace.
        logger.warning("refused: the host %r is not in ALLOWED_HOSTS", request.META.get("HTTP_HOST", "")[:100])
        return False
    return True


class EnvelopeMiddleware:
    """Turns exceptions of views into the envelope, with DEBUG=1 too, where Django would show its HTML page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            return error_pages.method_not_allowed(request, response["Allow"])
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if request_context.is_in_admin(request) or isinstance(error, ImproperlyConfigured):
            return None
        if isinstance(error, Http404):
            not_found = cast(Callable[..., HttpResponse], get_resolver().resolve_error_handler(404))
            return not_found(request, exception=error)
        return errors.plain_envelope(error)


class CrossOriginMiddleware(CorsMiddleware):
    """django-cors-headers for requests with an origin, under the same rule as sockets. Other replies get `Vary:
    origin`, for caches."""

    def origin_found_in_white_lists(self, origin: str, url: SplitResult) -> bool:
        return origins.is_allowed(origin)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "HTTP_ORIGIN" in request.META:
            return cast(HttpResponse, super().__call__(request))
        response = cast(HttpResponse, self.get_response(request))
        if self.is_enabled(request):
            patch_vary_headers(response, ["origin"])
        return response


def run_middleware(request: HttpRequest, make_response: Callable[[], HttpResponse]) -> HttpResponse:
    """The reply to a request that does not reach a view, with the headers of every other reply."""
    handler: Any = lambda _request: make_response()  # noqa: E731
    for layer in (LanguageMiddleware, CrossOriginMiddleware, SecurityHeadersMiddleware, ContentPolicyMiddleware):
        handler = layer(handler)
    return AccessLogMiddleware(handler)(request)
