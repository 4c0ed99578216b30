"""Health names the part that fails; metrics are closed unless they are enabled."""

import pytest
from django.db import connection
from django.test import Client

from server import health
from tests.server import free_port

TOKEN = "let me in, please"


@pytest.fixture
def caller(db):
    return Client()


@pytest.fixture
def operator(db, settings):
    """What the holder of METRICS_TOKEN gets."""
    settings.METRICS_TOKEN = TOKEN
    return Client(headers={"Authorization": f"Bearer {TOKEN}"})


def test_everything_well(operator):
    response = operator.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"
    assert {name: check["status"] for name, check in response.json()["checks"].items()} == {
        "database": "ok",
        "channel_layer": "ok",
        "migrations": "ok",
        "delivery_queue": "ok",
        "webhooks": "ok",
    }


def test_a_missing_migration_is_named(operator):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts' AND name = '0001_initial'")
    response = operator.get("/readyz")
    assert response.status_code == 503
    assert response.json()["message"] == "Not ready: migrations."
    assert response.json()["retry_after"] == 2
    assert response.json()["request_id"] == response.headers["X-Request-Id"]
    assert "accounts.0001_initial" in response.json()["checks"]["migrations"]["detail"]


def test_without_redis_it_is_degraded_and_stays_in_service(operator, settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    response = operator.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert response.json()["checks"]["channel_layer"]["status"] == "degraded"


@pytest.mark.parametrize("debug", [True, False])
def test_causes_are_for_the_token_alone(caller, settings, debug, caplog, monkeypatch):
    monkeypatch.setattr(health, "_logged", {})
    settings.DEBUG, settings.METRICS_TOKEN = debug, TOKEN
    for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": f"Basic {TOKEN}"}):
        assert caller.get("/readyz", headers=headers).json() == {"ok": True, "status": "ok"}
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts' AND name = '0001_initial'")
    for _ in range(3):
        response = caller.get("/readyz")
        assert response.status_code == 503 and response.headers["Retry-After"] == "2"
        assert response.json().keys() == {"ok", "status", "error", "message", "retry_after", "request_id"}
        assert response.json()["message"] == "Not ready."
        assert "migrat" not in response.content.decode() and "accounts" not in response.content.decode()
    # Who may read the log reads why, once.
    assert [record.getMessage() for record in caplog.records if record.name == "server.health"] == [
        "readyz: migrations is failed. 1 to apply, first accounts.0001_initial. Run: manage.py migrate"
    ]


def test_causes_stay_closed_without_a_token_in_the_settings(caller, settings):
    settings.METRICS_TOKEN = ""
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer"}):
        assert caller.get("/readyz", headers=headers).json() == {"ok": True, "status": "ok"}


def test_healthz_makes_no_query(caller, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert caller.get("/healthz").json() == {"ok": True, "status": "ok"}


@pytest.mark.parametrize("debug", [True, False])
def test_metrics_are_closed_without_a_token(caller, settings, debug):
    settings.DEBUG = debug
    assert caller.get("/metrics").status_code == 404


def test_metrics_open_for_the_token_alone(caller, settings):
    settings.METRICS_TOKEN = "let me in, please"
    assert caller.get("/metrics").status_code == 404
    assert caller.get("/metrics", headers={"Authorization": "Bearer let me out"}).status_code == 404
    caller.get("/api/v1/nothing/7")
    text = caller.get("/metrics", headers={"Authorization": "Bearer let me in, please"}).content.decode()
    assert 'parley_http_requests_total{method="GET",route="none",status="404"}' in text
    assert "parley_http_request_seconds_bucket" in text
    # A path with an id must never become a series of its own.
    assert "nothing/7" not in text
