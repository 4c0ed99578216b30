"""Sentry and OpenTelemetry are not imported unless a setting enables them."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from accounts.tokens import new_opaque_token
from config import telemetry

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]


def test_neither_is_imported_when_unset(tmp_path):
    """Nor is firebase in a web process: it costs 40 MB and belongs to the delivery worker."""
    program = (
        "import config.wsgi, sys;"
        "from django.urls import resolve; resolve('/api/v1/auth/me');"
        "print([name for name in ('sentry_sdk', 'opentelemetry.sdk', 'firebase_admin', 'fcm_django') if name in sys.modules])"
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
