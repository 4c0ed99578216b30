"""How often the second step and sensitive actions may be asked for, and what an unconfirmed account may do."""

import re

import pytest
from django.conf import settings
from django.core.cache import cache

from core.api import ratelimits
from tests.accounts.steps import enable_two_step, send_second_step
from tests.client import ApiClient
from tests.factories import make_user, sign_in

AUTH = "/api/v1/auth"


@pytest.fixture
def limited(settings):
    cache.clear()
    settings.RATELIMIT_ENABLE = True
    yield
    cache.clear()


def refused(client, method, path, data=None):
    body = client.request(method, f"{AUTH}/{path}", data, 429)
    assert body["error"] == "rate_limited"
    assert 1 <= body["retry_after"] <= 60
    return body


def test_three_challenges_a_minute_and_person(limited, as_alice, as_bob):
    for action in ("change_password", "change_email", "export_data"):
        as_alice.post(f"{AUTH}/action-challenge", {"action": action})
    refused(as_alice, "POST", "action-challenge", {"action": "delete_account"})
    as_bob.post(f"{AUTH}/action-challenge", {"action": "delete_account"})


def test_three_mailed_second_steps_a_minute_and_person(settings, alice, as_alice):
    enable_two_step(as_alice, alice)
    clients = [send_second_step(alice) for _ in range(2)]
    cache.clear()
    settings.RATELIMIT_ENABLE = True
    for number in range(3):
        clients[number % 2].post(f"{AUTH}/resend-two-step")
    refused(clients[0], "POST", "resend-two-step")
    refused(clients[1], "POST", "resend-two-step")
    cache.clear()


def test_thirty_second_steps_a_minute_and_person_and_recovery_codes_apart(settings, alice, as_alice):
    codes = enable_two_step(as_alice, alice)
    client = send_second_step(alice)
    cache.clear()
    settings.RATELIMIT_ENABLE = True
    for _ in range(30):
        client.raw("POST", f"{AUTH}/two-step", {})
    refused(client, "POST", "two-step", {"password": "not it at all"})
    assert client.post(f"{AUTH}/two-step/forgot", {"recovery_code": codes[0]})["recovery_codes_left"] == 9
    cache.clear()


def test_thirty_undo_links_a_minute_and_client(limited, anonymous):
    for _ in range(30):
        anonymous.post(f"{AUTH}/change-email/undo", {"token": "nonsense"}, status=404)
    refused(anonymous, "POST", "change-email/undo", {"token": "nonsense"})
    page = anonymous.raw("GET", "/email-undo/nonsense")
    assert page.status_code == 429
    assert 1 <= int(page["Retry-After"]) <= 60


def test_every_scope_that_is_checked_has_a_rate():
    checked = set()
    for app in (
        "core",
        "accounts",
        "messaging",
        "notifications",
        "realtime",
        "integrations",
        "portal",
        "server",
        "config",
    ):
        for file in (settings.BASE_DIR / app).rglob("*.py"):
            checked |= set(re.findall(r"(?:ratelimits\.(?:check|allows)|Throttle)\(\s*\"(\w+)\"", file.read_text()))
    assert len(checked) > 15
    for scope in checked:
        assert ratelimits.rates_of(scope), scope


# An unconfirmed account may not change its security or reach another user.
SHUT = [
    ("GET", "two-step/status"),
    ("POST", "two-step/enable"),
    ("POST", "two-step/change"),
    ("POST", "two-step/disable"),
    ("POST", "two-step/recovery-codes"),
    ("POST", "action-challenge"),
    ("POST", "action-verify"),
    ("POST", "change-password"),
    ("POST", "change-email"),
    ("POST", "change-email/verify"),
    ("POST", "delete-account"),
    ("GET", "export"),
]


@pytest.mark.parametrize(("method", "path"), SHUT)
def test_security_waits_for_the_confirmed_address(db, method, path):
    client = ApiClient(sign_in(make_user("Una", verified=False))[1])
    assert client.request(method, f"{AUTH}/{path}", {}, 403)["error"] == "email_not_verified"


def test_an_unconfirmed_account_sees_to_itself(bob):
    una = make_user("Una", verified=False)
    client = ApiClient(sign_in(una)[1])
    client.get(f"{AUTH}/me")
    assert len(client.get(f"{AUTH}/sessions")["sessions"]) == 1
    client.get(f"{AUTH}/devices")
    client.get("/api/v1/profile")
    client.put("/api/v1/profile/privacy", {"read_receipts": False})
    assert client.post("/api/v1/profile/blocks", {"user_id": bob.id}, status=403)["error"] == "email_not_verified"
    client.post(f"{AUTH}/logout")
