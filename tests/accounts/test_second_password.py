"""Two-step verification as a setting."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import User
from tests.accounts.steps import SECOND, act, action_token, enable_two_step, login, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD

STATUS = "/api/v1/auth/two-step/status"
NEW = "amber window 77"


def test_the_status_before_and_after(alice, as_alice):
    off = {"ok": True, "enabled": False, "hint": "", "recovery_codes_left": 0, "updated_at": None}
    assert as_alice.get(STATUS) == off
    enable_two_step(as_alice, alice, hint="the lamp")
    on = as_alice.get(STATUS)
    assert on == off | {
        "enabled": True,
        "hint": "the lamp",
        "recovery_codes_left": 10,
        "updated_at": on["updated_at"],
    }


def test_enabling_shows_ten_codes_once_and_tells_the_owner(alice, as_alice):
    body = act(as_alice, alice, "two_step_enable", "two-step/enable", {"password": SECOND})
    assert body.keys() == {"ok", "recovery_codes"}
    assert len(set(body["recovery_codes"])) == 10
    assert mail.outbox[-1].subject == "Two-step verification is on"
    assert SECOND not in mail.outbox[-1].body


def test_enabling_twice_is_an_error_and_keeps_the_first(alice, as_alice):
    enable_two_step(as_alice, alice)
    body = act(as_alice, alice, "two_step_enable", "two-step/enable", {"password": NEW}, status=400)
    assert body["error"] == "validation_error"
    send_second_step(alice).post("/api/v1/auth/two-step", {"password": SECOND})


@pytest.mark.parametrize("password", ["short", "password1", PASSWORD, "x" * 257, "", 12345678, None, "nul\x00nul nul"])
def test_what_a_second_password_may_not_be(alice, as_alice, password):
    body = act(as_alice, alice, "two_step_enable", "two-step/enable", {"password": password}, status=400)
    assert list(body["fields"]) == ["password"]
    assert as_alice.get(STATUS)["enabled"] is False


@pytest.mark.parametrize(
    "hint",
    [SECOND, "it is VIOLET-lantern-42!", "violet lantern 43", "24 nretnal teloiv", "lantern 42 violet", "x" * 65, 7],
)
def test_a_hint_must_not_give_the_password_away(alice, as_alice, hint):
    data = {"password": SECOND, "hint": hint}
    body = act(as_alice, alice, "two_step_enable", "two-step/enable", data, status=400)
    assert list(body["fields"]) == ["hint"]


def test_refused_hints_and_weak_passwords_are_no_tries_of_the_action_token(alice, as_alice):
    headers = {"X-Action-Token": action_token(as_alice, alice, "two_step_enable")}

    def enable(status=400, **data):
        return as_alice.post("/api/v1/auth/two-step/enable", data, status=status, headers=headers)

    for _ in range(4):
        assert list(enable(password=SECOND, hint=SECOND)["fields"]) == ["hint"]
        assert list(enable(password="password1")["fields"]) == ["password"]
    assert len(enable(password=SECOND, status=200)["recovery_codes"]) == 10


@pytest.mark.parametrize("hint", ["the one from the attic", "", None, "   ", "фонарь"])
def test_a_hint_is_free_otherwise(alice, as_alice, hint):
    enable_two_step(as_alice, alice, hint=hint)
    assert login(alice)["hint"] == (hint or "").strip()


def test_changing_asks_for_the_old_one(alice, as_alice):
    enable_two_step(as_alice, alice, hint="the lamp")
    wrong = {"password": "not it at all", "new_password": NEW}
    body = act(as_alice, alice, "two_step_change", "two-step/change", wrong, status=401)
    assert body["error"] == "invalid_two_step"
    body = act(as_alice, alice, "two_step_change", "two-step/change", {"new_password": NEW}, status=400)
    assert list(body["fields"]) == ["password"]
    right = {"password": SECOND, "new_password": NEW}
    assert act(as_alice, alice, "two_step_change", "two-step/change", right) == {"ok": True}
    body = login(alice)
    assert body["hint"] == ""
    client = ApiClient(body["two_step_token"])
    client.post("/api/v1/auth/two-step", {"password": SECOND}, status=401)
    client.post("/api/v1/auth/two-step", {"password": NEW})
    assert as_alice.get(STATUS)["recovery_codes_left"] == 10


def test_the_new_one_is_held_to_the_same_rules(alice, as_alice):
    enable_two_step(as_alice, alice)
    for new in ("short", PASSWORD):
        data = {"password": SECOND, "new_password": new}
        body = act(as_alice, alice, "two_step_change", "two-step/change", data, status=400)
        assert list(body["fields"]) == ["new_password"]


def test_guesses_by_a_live_session_count_for_the_day(alice, as_alice):
    enable_two_step(as_alice, alice)
    for _ in range(2):
        headers = {"X-Action-Token": action_token(as_alice, alice, "two_step_disable")}
        for _ in range(5):
            path = "/api/v1/auth/two-step/disable"
            body = as_alice.post(path, {"password": "not it at all"}, status=401, headers=headers)
            assert body["error"] == "invalid_two_step"
    body = act(as_alice, alice, "two_step_disable", "two-step/disable", {"password": SECOND}, status=429)
    assert body["error"] == "account_locked"


def test_a_pending_sign_in_ends_with_the_password_that_it_waits_for(alice, as_alice):
    enable_two_step(as_alice, alice)
    pending = send_second_step(alice)
    act(as_alice, alice, "two_step_change", "two-step/change", {"password": SECOND, "new_password": NEW})
    body = pending.post("/api/v1/auth/two-step", {"password": NEW}, status=401)
    assert body["error"] == "token_revoked"


def test_disabling_asks_for_it_and_removes_everything(alice, as_alice):
    enable_two_step(as_alice, alice, hint="the lamp")
    wrong = {"password": PASSWORD}
    body = act(as_alice, alice, "two_step_disable", "two-step/disable", wrong, status=401)
    assert body["error"] == "invalid_two_step"
    right = {"password": SECOND}
    assert act(as_alice, alice, "two_step_disable", "two-step/disable", right) == {"ok": True}
    assert "token" in login(alice)
    status = as_alice.get(STATUS)
    assert (status["enabled"], status["hint"], status["recovery_codes_left"]) == (False, "", 0)


@pytest.mark.parametrize(
    ("action", "path", "data"),
    [
        ("two_step_change", "two-step/change", {"password": SECOND, "new_password": NEW}),
        ("two_step_disable", "two-step/disable", {"password": SECOND}),
        ("recovery_codes", "two-step/recovery-codes", {}),
    ],
)
def test_what_needs_it_on_says_that_it_is_off(alice, as_alice, action, path, data):
    body = act(as_alice, alice, action, path, data, status=400)
    assert body["error"] == "validation_error"
    assert list(body["fields"]) == ["two_step"]


def test_new_recovery_codes_replace_the_old_ones(alice, as_alice):
    old = enable_two_step(as_alice, alice)
    new = act(as_alice, alice, "recovery_codes", "two-step/recovery-codes")["recovery_codes"]
    assert len(set(old) | set(new)) == 20
    forgot = "/api/v1/auth/two-step/forgot"
    refused = send_second_step(alice).post(forgot, {"recovery_code": old[0]}, status=401)
    assert (refused["error"], refused["message"]) == ("invalid_two_step", "The code is wrong or has been used.")
    assert send_second_step(alice).post(forgot, {"recovery_code": new[0]})["recovery_codes_left"] == 9


class TestAfterARecoveryCode:
    @pytest.fixture
    def recovered(self, alice, as_alice):
        codes = enable_two_step(as_alice, alice)
        body = send_second_step(alice).post("/api/v1/auth/two-step/forgot", {"recovery_code": codes[0]})
        return ApiClient(body["token"])

    def test_that_session_sets_a_new_one_without_the_old_one(self, alice, as_alice, recovered):
        only_new = {"new_password": NEW}
        act(as_alice, alice, "two_step_change", "two-step/change", only_new, status=400)
        assert act(recovered, alice, "two_step_change", "two-step/change", only_new) == {"ok": True}
        send_second_step(alice).post("/api/v1/auth/two-step", {"password": NEW})
        act(recovered, alice, "two_step_change", "two-step/change", {"new_password": SECOND}, status=400)

    def test_for_a_quarter_of_an_hour(self, alice, recovered):
        with time_machine.travel(timezone.now() + timedelta(minutes=15, seconds=1)):
            body = act(recovered, alice, "two_step_change", "two-step/change", {"new_password": NEW}, status=400)
        assert list(body["fields"]) == ["password"]

    def test_switching_it_off_still_asks_for_it(self, alice, recovered):
        body = act(recovered, alice, "two_step_disable", "two-step/disable", {"password": NEW}, status=401)
        assert body["error"] == "invalid_two_step"


def test_the_second_password_is_stored_as_a_salted_hash(alice, bob, as_alice, as_bob):
    enable_two_step(as_alice, alice)
    enable_two_step(as_bob, bob)
    stored = set(User.objects.values_list("second_password", flat=True))
    assert len(stored) == 2
    assert not any(SECOND in value for value in stored)
