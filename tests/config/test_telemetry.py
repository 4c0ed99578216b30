"""Sentry and OpenTelemetry are not imported unless a setting enables them."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory

from accounts.tokens import new_opaque_token
from server import telemetry

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]


def test_neither_is_imported_when_unset(tmp_path):
    program = (
        "import config.wsgi, sys;"
        "from django.urls import resolve; resolve('/api/v1/auth/me');"
        "print([name for name in ('sentry_sdk', 'opentelemetry.sdk') if name in sys.modules])"
    )
    env = {"DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path), "PATH": ""}
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


@pytest.mark.parametrize(
    ("missing", "start", "named"),
    [
        ("sentry_sdk", lambda: telemetry.start_sentry("https://key@example.com/1"), "SENTRY_DSN"),
        ("opentelemetry", lambda: telemetry.traced(None), "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ],
)
def test_a_missing_library_is_named_with_its_setting(monkeypatch, missing, start, named):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImproperlyConfigured, match=f"{named} needs: pip install -r requirements-optional.txt"):
        start()


def test_a_report_leaves_without_what_opens_an_account():
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    opaque_token, _digest = new_opaque_token()
    event = {
        "request": {
            "url": f"https://chat.example.com/email-undo/{opaque_token}",
            "data": {"password": "secret"},
            "cookies": {"trusted_device": "secret"},
            "query_string": "s=secret",
            "headers": {"Authorization": f"Bearer {token}", "X-Action-Token": "secret", "Accept": "*/*"},
        },
        "exception": {"values": [{"value": f"bad token {token}"}]},
    }
    cleaned = telemetry.clean(event, None)
    assert "secret" not in str(cleaned)
    assert token not in str(cleaned) and opaque_token not in str(cleaned)
    assert cleaned["request"]["url"].startswith("https://chat.example.com/email-undo/")
    assert cleaned["request"]["headers"] == {"Accept": "*/*"}


TOKEN = new_opaque_token()[0]
SIGNED = [f"/api/v1/media/{TOKEN}", f"/email-undo/{TOKEN}", f"/nowhere/{TOKEN}"]
ROUTES = ["/api/v1/media/<str:token>", "/email-undo/<str:token>", "/(none)"]


def send_signed_requests():
    """The application gets each of them as it was sent."""
    sent = []

    def answered(environ, start_response):
        sent.append(environ["PATH_INFO"] + environ["QUERY_STRING"])
        start_response("200 OK", [])
        return [b"done"]

    application = telemetry.traced(answered)
    for path in SIGNED:
        environ = RequestFactory().get(path, {"s": "a" * 40}).environ | {"RAW_URI": f"{path}?s={'a' * 40}"}
        assert b"".join(application(environ, lambda status, headers: None)) == b"done"
    assert sent == [f"{path}s={'a' * 40}" for path in SIGNED]


def test_a_span_leaves_without_what_opens_an_image_or_an_account(monkeypatch):
    """A real span, as an exporter gets it."""
    pytest.importorskip("opentelemetry.instrumentation.wsgi", reason="OpenTelemetry is an optional library")
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http import trace_exporter
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    monkeypatch.setattr(trace_exporter, "OTLPSpanExporter", lambda: exporter)
    send_signed_requests()
    trace.get_tracer_provider().force_flush()
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == [f"GET {route}" for route in ROUTES]
    assert not [span for span in spans if TOKEN in span.to_json() or "a" * 40 in span.to_json()]


def test_what_makes_spans_sees_no_path(monkeypatch):
    """The same without the library, with a stand-in for it."""
    seen = []

    def spans(application):
        def call(environ, start_response):
            seen.append({name: value for name, value in environ.items() if isinstance(value, str)})
            return application(environ, start_response)

        return call

    for name in ("", ".exporter.otlp.proto.http.trace_exporter", ".sdk.trace", ".sdk.trace.export"):
        monkeypatch.setitem(sys.modules, f"opentelemetry{name}", MagicMock())
    monkeypatch.setitem(sys.modules, "opentelemetry.instrumentation.wsgi", Mock(OpenTelemetryMiddleware=spans))
    send_signed_requests()
    assert [environ["PATH_INFO"] for environ in seen] == ROUTES
    assert TOKEN not in str(seen) and "a" * 40 not in str(seen)
