"""What Prometheus finds at /metrics after people have used the service."""

import re

import httpx
import pytest

from messaging.services import conversations, messages
from notifications.services import delivery
from tests import databases
from tests.server import ON_POSTGRES, RunningServer


@pytest.fixture
def scrape(anonymous, settings):
    settings.METRICS_TOKEN = "let me in"

    def read() -> dict[str, float]:
        response = anonymous.raw("GET", "/metrics", headers={"Authorization": "Bearer let me in"})
        lines = re.findall(r"^(\w+(?:\{[^}]*\})?) ([0-9.e+-]+)$", response.content.decode(), re.MULTILINE)
        return {name: float(value) for name, value in lines}

    return read


def test_requests_limits_and_the_queue_are_counted(scrape, anonymous, as_bob, alice, bob, settings):
    before = scrape()
    settings.RATELIMIT_ENABLE = True
    for _ in range(3):
        anonymous.post("/api/v1/auth/resend-otp", {"email": "limits@example.com"})
    anonymous.post("/api/v1/auth/resend-otp", {"email": "limits@example.com"}, status=429)
    as_bob.post("/api/v1/profile/push-token", {"token": "a-token-of-bob"})
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    messages.send(sender=alice, conversation_id=conversation["id"], body="hello")
    after = scrape()
    limited = 'parley_limits_hit_total{error="rate_limited"}'
    assert after[limited] == before.get(limited, 0) + 1
    route = 'parley_http_requests_total{method="POST",route="api/v1/auth/resend-otp",status="429"}'
    assert after[route] == before.get(route, 0) + 1
    assert (
        after['parley_deliveries{channel="push",state="pending"}']
        == delivery.figures()["deliveries"]["push"]["pending"]
    )
    assert after["parley_sockets_open"] == 0
    assert "parley_event_delivery_seconds_count" in after


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no pool")
def test_the_server_counts_the_connections_of_its_pool(tmp_path):
    with databases.TemporaryDatabase() as url:
        server = RunningServer(tmp_path, DATABASE_URL=url, DATABASE_POOL_SIZE="3", METRICS_TOKEN="let me in")
        server.start()
        try:
            httpx.get(f"{server.base}/api/v1/auth/me", headers={"Authorization": f"Bearer {'a' * 43}"}, trust_env=False)
            headers = {"Authorization": "Bearer let me in"}
            text = httpx.get(f"{server.base}/metrics", headers=headers, trust_env=False, timeout=30).text
        finally:
            server.stop()
    figures = dict(re.findall(r"^(parley_database_\w+) ([0-9.]+)$", text, re.MULTILINE))
    assert set(figures) == {
        "parley_database_pool_size",
        "parley_database_pool_available",
        "parley_database_requests_waiting",
    }
    assert float(figures["parley_database_pool_size"]) in (1, 2, 3)
