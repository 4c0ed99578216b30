"""Where one is signed in, and ending it from afar."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from tests.accounts.steps import login
from tests.client import ApiClient
from tests.factories import sign_in

SESSIONS = "/api/v1/auth/sessions"


def test_the_list_shows_each_sign_in_and_which_one_asks(alice, as_alice):
    other, _token = sign_in(alice)
    rows = as_alice.get(SESSIONS)["sessions"]
    assert [row["is_current"] for row in rows] == [False, True]
    assert rows[0] == {
        "id": other.id,
        "device_name": "",
        "ip": "127.0.0.1",
        "user_agent": "tests",
        "created_at": rows[0]["created_at"],
        "last_used_at": rows[0]["last_used_at"],
        "is_current": False,
        "opened_by": None,
    }
    assert rows[0]["created_at"].endswith("Z")


@pytest.mark.parametrize(
    ("sent", "listed"),
    [
        ("Ann\u2019s iPhone \U0001f4f1".encode(), "Ann\u2019s iPhone \U0001f4f1"),
        ("Jürgens Telefon".encode("latin-1"), "Jürgens Telefon"),
        (b"a\x00\tb\xc2\x85", "a b"),
    ],
)
def test_the_name_of_a_device_is_utf8(alice, sent, listed):
    reply = login(alice, **{"X-Device-Name": sent.decode("latin-1")})
    assert [row["device_name"] for row in ApiClient(reply["token"]).get(SESSIONS)["sessions"]] == [listed]


def test_ended_and_expired_ones_are_not_listed(alice):
    sign_in(alice)
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        session, token = sign_in(alice)
        rows = ApiClient(token).get(SESSIONS)["sessions"]
        assert [row["id"] for row in rows] == [session.id]


def test_ending_one_revokes_its_token_at_once(alice, as_alice):
    session, token = sign_in(alice)
    assert as_alice.delete(f"{SESSIONS}/{session.id}") == {"ok": True}
    assert ApiClient(token).get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
    assert as_alice.delete(f"{SESSIONS}/{session.id}", status=404)["error"] == "not_found"


def test_one_may_end_the_session_at_hand(alice, as_alice):
    current = as_alice.get(SESSIONS)["sessions"][0]["id"]
    as_alice.delete(f"{SESSIONS}/{current}")
    assert as_alice.get("/api/v1/auth/me", status=401)["error"] == "token_revoked"


def test_other_peoples_and_odd_ids_are_not_found(alice, as_alice, as_bob):
    session, token = sign_in(alice)
    absent = as_bob.delete(f"{SESSIONS}/999999999", status=404)
    for odd in (str(session.id), "0", "-1", "01", "1e3", "١", "9" * 30, "x", "1.0", "%00"):
        body = as_bob.delete(f"{SESSIONS}/{odd}", status=404)
        assert body | {"request_id": ""} == absent | {"request_id": ""}
    ApiClient(token).get("/api/v1/auth/me")


def test_ending_all_others_keeps_this_one(alice, bob, as_alice, as_bob):
    tokens = [sign_in(alice)[1] for _ in range(3)]
    assert as_alice.post(f"{SESSIONS}/revoke-others") == {"ok": True, "revoked": 3}
    for token in tokens:
        assert ApiClient(token).get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
    as_alice.get("/api/v1/auth/me")
    as_bob.get("/api/v1/auth/me")
    assert as_alice.post(f"{SESSIONS}/revoke-others") == {"ok": True, "revoked": 0}
