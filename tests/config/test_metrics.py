"""What Prometheus finds at /metrics after people have used the service."""

import re

import pytest

from messaging.services import conversations, messages
from notifications.services import delivery


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
