"""Errors to Sentry and traces to OpenTelemetry, when a setting enables them; otherwise neither is imported."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.wsgi import get_path_info
from django.http import Http404
from django.urls import resolve

from core.request_context import route_of, shown_path
from server.logs import without_secrets

# The key under which the environ for the span keeps the request's original environ.
_SENT = "parley.environ"
DROPPED_HEADERS = ("authorization", "cookie", "x-action-token", "x-device-token", "webhook-signature")


def start_sentry(dsn: str) -> None:
    """Reports unhandled errors, without bodies, tokens, cookies and query strings."""
    try:
        import sentry_sdk

        sentry_sdk.init(
            dsn=dsn,
            send_default_pii=False,
            max_request_body_size="never",
            include_local_variables=False,
            before_send=clean,
        )
    except ImportError as error:
        raise ImproperlyConfigured("SENTRY_DSN needs: pip install -r requirements-optional.txt") from error
    except ValueError as error:
        raise ImproperlyConfigured(f"SENTRY_DSN is no address of a Sentry project: {error}.") from error


def clean(event: Any, hint: Any) -> Any:
    request = event.get("request") or {}
    request.pop("data", None)
    request.pop("cookies", None)
    request.pop("query_string", None)
    # The link that undoes a change of the address has its token in the path.
    request["url"] = without_secrets(request.get("url", ""))
    request["headers"] = {
        name: value for name, value in (request.get("headers") or {}).items() if name.lower() not in DROPPED_HEADERS
    }
    for value in (event.get("exception") or {}).get("values", []):
        value["value"] = without_secrets(str(value.get("value", "")))
    return event


def traced(application: Any) -> Any:
    """The WSGI application with a span per request (OTEL_* variables say where they go). Spans name the route, not the
    path, as the access log does."""
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured(
            "OTEL_EXPORTER_OTLP_ENDPOINT needs: pip install -r requirements-optional.txt"
        ) from error

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    with_spans = OpenTelemetryMiddleware(lambda environ, start_response: application(environ[_SENT], start_response))
    return lambda environ, start_response: with_spans(_without_path(environ), start_response)


def _without_path(environ: dict[str, Any]) -> dict[str, Any]:
    """The request without the parts that a span must not contain: the path may hold the token of an image, the query
    string its signature."""
    path = get_path_info(environ)
    try:
        match = resolve(path)
    except Http404:  # "*", which does not begin with a slash
        match = None
    shown = {name: value for name, value in environ.items() if name not in ("RAW_URI", "REQUEST_URI")}
    return shown | {"PATH_INFO": shown_path(route_of(match, path)), "QUERY_STRING": "", _SENT: environ}
