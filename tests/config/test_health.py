"""Health names the part that fails; metrics are closed unless they are enabled."""

import pytest
from django.db import connection
from django.test import Client

from tests.server import free_port


@pytest.fixture
def caller(db):
    return Client()


def test_everything_well(caller):
    response = caller.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"
    assert {name: check["status"] for name, check in response.json()["checks"].items()} == {
        "database": "ok",
        "channel_layer": "ok",
        "migrations": "ok",
        "delivery_queue": "ok",
    }


def test_a_missing_migration_is_named(caller):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts' AND name = '0001_initial'")
    response = caller.get("/readyz")
    assert response.status_code == 503
    assert response.json()["message"] == "Not ready: migrations."
    assert response.json()["retry_after"] == 2
    assert response.json()["request_id"] == response.headers["X-Request-Id"]
    assert "accounts.0001_initial" in response.json()["checks"]["migrations"]["detail"]


def test_without_redis_it_is_degraded_and_stays_in_service(caller, settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    response = caller.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert response.json()["checks"]["channel_layer"]["status"] == "degraded"


def test_healthz_makes_no_query(caller, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert caller.get("/healthz").json() == {"ok": True, "status": "ok"}


@pytest.mark.parametrize("debug", [True, False])
def test_metrics_are_closed_without_a_token(caller, settings, debug):
    settings.DEBUG = debug
    assert caller.get("/metrics").status_code == 404


def test_metrics_open_for_the_token_alone(caller, settings):
    settings.METRICS_TOKEN = "let me in"
    assert caller.get("/metrics").status_code == 404
    assert caller.get("/metrics", headers={"Authorization": "Bearer let me out"}).status_code == 404
    caller.get("/api/v1/nothing/7")
    text = caller.get("/metrics", headers={"Authorization": "Bearer let me in"}).content.decode()
    assert 'parley_http_requests_total{method="GET",route="none",status="404"}' in text
    assert "parley_http_request_seconds_bucket" in text
    # A path with an id must never become a series of its own.
    assert "nothing/7" not in text
