"""Changing the first password with the old one."""

import pytest
from django.core import mail

from accounts.models import OneTimeToken
from tests.accounts.steps import SECOND, act, action_token, enable_two_step, last_code, login, send_second_step
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in

NEW = "amber window 77"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}


def change(client, user, data=None, status=200):
    return act(client, user, "change_password", "change-password", data or CHANGE, status=status)


def test_it_rotates_this_session_and_ends_the_others(alice, as_alice):
    _, elsewhere = sign_in(alice)
    body = change(as_alice, alice)
    assert body == {"ok": True, "message": body["message"], "token": body["token"], "expires_at": body["expires_at"]}
    assert body["token"] != as_alice.token
    ApiClient(body["token"]).get("/api/v1/auth/me")
    assert ApiClient(elsewhere).get("/api/v1/auth/me", status=401)["error"] == "token_revoked"
    assert login(alice, status=401)["error"] == "invalid_credentials"
    assert "token" in login(alice, NEW)


def test_the_owner_is_mailed(alice, as_alice):
    change(as_alice, alice)
    assert mail.outbox[-1].to == [alice.email]
    assert mail.outbox[-1].subject == "Your password was changed"
    assert NEW not in mail.outbox[-1].body


def test_a_wrong_old_password_changes_nothing(alice, as_alice):
    body = change(as_alice, alice, {"current_password": "not it at all", "new_password": NEW}, status=401)
    assert body["error"] == "invalid_credentials"
    assert "token" in login(alice)


@pytest.mark.parametrize("new", ["short", "password1", PASSWORD, "x" * 257, "", 12345678, None, "alicearcher"])
def test_what_a_new_password_may_not_be(alice, as_alice, new):
    body = change(as_alice, alice, {"current_password": PASSWORD, "new_password": new}, status=400)
    assert list(body["fields"]) == ["new_password"]
    assert "token" in login(alice)


def test_it_is_not_the_user_name(alice, as_alice):
    alice.username = "wonderland_x7k2q"
    alice.save(update_fields=["username"])
    body = change(as_alice, alice, {"current_password": PASSWORD, "new_password": alice.username}, status=400)
    assert list(body["fields"]) == ["new_password"]


def test_it_is_not_the_second_one(alice, as_alice):
    enable_two_step(as_alice, alice)
    body = change(as_alice, alice, {"current_password": PASSWORD, "new_password": SECOND}, status=400)
    assert list(body["fields"]) == ["new_password"]


def test_a_failed_change_does_not_use_the_permission_up(alice, as_alice):
    headers = {"X-Action-Token": action_token(as_alice, alice, "change_password")}
    path = "/api/v1/auth/change-password"
    as_alice.post(path, {"current_password": "not it", "new_password": NEW}, status=401, headers=headers)
    as_alice.post(path, {"current_password": PASSWORD, "new_password": "short"}, status=400, headers=headers)
    as_alice.post(path, {}, status=400, headers=headers)
    as_alice.post(path, CHANGE, headers=headers)


def test_everything_begun_before_ends(alice, as_alice):
    enable_two_step(as_alice, alice)
    pending = send_second_step(alice)
    other_action = action_token(as_alice, alice, "delete_account")
    ApiClient().post("/api/v1/auth/forgot-password", {"email": alice.email})
    reset_code = last_code(alice.email)
    client = ApiClient(change(as_alice, alice)["token"])
    assert pending.post("/api/v1/auth/two-step", {"password": SECOND}, status=401)["error"] == "token_revoked"
    headers = {"X-Action-Token": other_action}
    body = client.post("/api/v1/auth/delete-account", status=403, headers=headers)
    assert body["error"] == "action_token_invalid"
    data = {"email": alice.email, "code": reset_code, "new_password": "cobalt river 31"}
    assert ApiClient().post("/api/v1/auth/verify-reset", data, status=400)["error"] == "invalid_otp"
    assert OneTimeToken.objects.filter(used_at=None).count() == 0
