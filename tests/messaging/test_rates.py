"""How often one may send, search, start, edit, react: above it 429 with the time to wait."""

import pytest
import time_machine
from django.core.cache import cache
from django.test import override_settings
from django.utils import timezone

from tests.factories import make_user
from tests.messaging.conftest import API, conversation_path, message_path


@pytest.fixture(autouse=True)
def limited():
    cache.clear()
    with override_settings(RATELIMIT_ENABLE=True):
        yield
    cache.clear()


def refused(response):
    body = response.json()
    assert response.status_code == 429 and body["error"] == "rate_limited"
    assert isinstance(body["retry_after"], int) and body["retry_after"] >= 1
    assert response["Retry-After"] == str(body["retry_after"])
    return body["retry_after"]


def tries(count, call):
    """How many of so many calls passed, and the first refusal."""
    for number in range(count):
        response = call(number)
        if response.status_code == 429:
            return number, refused(response)
    return count, 0


@pytest.fixture
def clock():
    """Time stands still, and moves when told to; the token is valid all the while."""
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


def test_twenty_at_once_and_sixty_a_minute(as_alice, as_bob, conversation, clock):
    path = conversation_path(conversation, "/messages")

    def burst(size=20):
        return tries(size, lambda n: as_alice.raw("POST", path, {"body": "x"}))

    assert burst(21)[0] == 20
    assert as_bob.raw("POST", path, {"body": "x"}).status_code == 201
    # Up to the beginning of the next minute as the counter sees it.
    while True:
        clock.shift(6)
        passed, wait = burst()
        if passed < 20:
            break
    clock.shift(wait + 1)
    for expected in (20, 20, 20, 0):
        assert burst()[0] == expected
        clock.shift(6)


@pytest.mark.parametrize(
    ("allowed", "request_of"),
    [
        (30, lambda c, m: ("GET", f"{API}/users?q=x", None)),
        (30, lambda c, m: ("GET", conversation_path(c, "/search?q=x"), None)),
        (60, lambda c, m: ("PATCH", message_path(m), {"body": "x"})),
        (60, lambda c, m: ("POST", message_path(m, "/reactions"), {"emoji": "👍"})),
    ],
)
def test_the_rates_of_other_things(as_alice, conversation, send_message, clock, allowed, request_of):
    sent = send_message(as_alice)["id"]
    assert tries(allowed + 1, lambda n: as_alice.raw(*request_of(conversation, sent)))[0] == allowed


def test_twenty_new_conversations_an_hour(as_alice, clock):
    people = [make_user(f"P{n}").id for n in range(21)]

    def start(number):
        return as_alice.raw("POST", f"{API}/conversations", {"user_id": people[number]})

    assert tries(21, start)[0] == 20
    # What exists already is no new conversation.
    assert start(0).status_code == 200


def test_ten_images_a_minute(as_alice, conversation, clock):
    from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

    from tests.messaging.test_images import upload

    def send(number):
        body = encode_multipart(BOUNDARY, {"file": upload(size=(8, 8))})
        return as_alice.raw("POST", conversation_path(conversation, "/media"), body, content_type=MULTIPART_CONTENT)

    assert tries(11, send)[0] == 10
