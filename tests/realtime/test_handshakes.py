"""A network opens so many sockets a minute; the next handshake is refused before the server accepts it."""

import json
import logging

import pytest
from websockets.exceptions import InvalidStatus

from realtime import handshakes
from realtime.conf import conf

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def allowance(monkeypatch, settings):
    settings.RATELIMIT_ENABLE = True
    fresh = handshakes.Allowance()
    monkeypatch.setattr(handshakes, "_allowance", fresh)
    return fresh


@pytest.fixture
def three(settings):
    settings.REALTIME_HANDSHAKES_PER_MINUTE = 3


def test_the_default_lets_an_office_come_back(allowance):
    assert conf.HANDSHAKES_PER_MINUTE == 300
    assert [allowance.wait("192.0.2.1", now=5) for _ in range(300)] == [0] * 300
    assert 0 < allowance.wait("192.0.2.1", now=5) <= 1


def test_the_fourth_handshake_is_answered_429(three, open_socket, settings):
    settings.CORE_TRUSTED_PROXIES = 1

    def from_network(address):
        return open_socket(headers={"X-Forwarded-For": f"198.51.100.9, {address}"})

    for _ in range(3):
        from_network("192.0.2.1")
    with pytest.raises(InvalidStatus) as refused:
        from_network("192.0.2.1")
    response = refused.value.response
    body = json.loads(response.body)
    assert response.status_code == 429
    assert (body["ok"], body["error"]) == (False, "rate_limited")
    assert 1 <= body["retry_after"] <= 20 and response.headers["Retry-After"] == str(body["retry_after"])
    assert body["request_id"] == response.headers["X-Request-Id"]
    from_network("192.0.2.2")
    settings.RATELIMIT_ENABLE = False
    from_network("192.0.2.1")


def test_a_refusal_is_not_an_error_of_the_server(three, open_socket, caplog):
    """Errors pass the limit of log lines, and a client could write as many as it likes."""
    for _ in range(3):
        open_socket()
    # The server ends a handshake before it answers the next but one.
    for _ in range(3):
        with pytest.raises(InvalidStatus):
            open_socket()
    lines = [record for record in caplog.records if record.name == "uvicorn.error"]
    assert [record.getMessage() for record in lines if " 429" in record.getMessage()]
    assert [record.getMessage() for record in lines if record.levelno > logging.INFO] == []


def test_tokens_and_origins_do_not_help(three, open_socket):
    """It counts what is refused later, too: revoked tokens, foreign origins."""
    for headers in ({"Authorization": "Bearer nothing"}, {"Authorization": "Bearer eyJ.e30.AA"}, {}):
        open_socket(headers=headers)
    for headers in ({"Origin": "https://evil.example"}, {}):
        with pytest.raises(InvalidStatus) as refused:
            open_socket(headers=headers)
        assert refused.value.response.status_code == 429


def test_time_gives_handshakes_back(three, allowance):
    assert [allowance.wait("192.0.2.1", now=100) > 0 for _ in range(4)] == [False, False, False, True]
    assert allowance.wait("192.0.2.1", now=119) == pytest.approx(1)
    assert allowance.wait("192.0.2.1", now=120.1) == 0
    assert allowance.wait("192.0.2.1", now=120.1) > 0
    assert [allowance.wait("192.0.2.1", now=900) > 0 for _ in range(4)] == [False, False, False, True]


def test_an_ipv6_line_is_few_networks(three, allowance):
    assert sum(allowance.wait(f"2001:db8:0:{n:x}::", now=1) == 0 for n in range(256) for _ in range(4)) == 12


def test_only_so_many_networks_are_remembered(three, allowance, monkeypatch):
    monkeypatch.setattr(handshakes, "NETWORKS", 10)
    for n in range(100):
        assert allowance.wait(f"192.0.2.{n}", now=1) == 0
    assert len(allowance._left) == 10
