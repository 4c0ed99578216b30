"""Sensitive actions: challenge, code, and a token that opens one action once."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import OneTimeToken, User
from accounts.sign_in import action_tokens
from tests.accounts.steps import SECOND, action_token, answers, enable_two_step, last_code
from tests.client import ApiClient
from tests.factories import PASSWORD, sign_in
from tests.parallel import parallel_outcomes

CHALLENGE = "/api/v1/auth/action-challenge"
VERIFY = "/api/v1/auth/action-verify"
NEW = "amber window 77"

# action: (method, path, a body that would do)
ENTRY_POINTS = {
    "change_password": ("POST", "change-password", {"current_password": PASSWORD, "new_password": NEW}),
    "change_email": ("POST", "change-email", {"email": "new@example.com"}),
    "two_step_enable": ("POST", "two-step/enable", {"password": SECOND}),
    "two_step_change": ("POST", "two-step/change", {"password": SECOND, "new_password": NEW}),
    "two_step_disable": ("POST", "two-step/disable", {"password": SECOND}),
    "recovery_codes": ("POST", "two-step/recovery-codes", {}),
    "export_data": ("GET", "export", None),
    "delete_account": ("POST", "delete-account", {}),
}
NEEDS_SECOND_STEP = {"two_step_change", "two_step_disable", "recovery_codes"}


def use(client, action, token=None, **headers):
    method, path, data = ENTRY_POINTS[action]
    if token is not None:
        headers["X-Action-Token"] = token
    return client.raw(method, f"/api/v1/auth/{path}", data, headers=headers)


def refused(response):
    return response.status_code, response.json()["error"]


@pytest.fixture
def prepared(alice, as_alice):
    """Alice, with the second step on where the action is about it."""

    def prepare(action):
        if action in NEEDS_SECOND_STEP:
            enable_two_step(as_alice, alice)
        return as_alice

    return prepare


def test_the_replies_hold_what_is_documented(alice, as_alice):
    body = as_alice.post(CHALLENGE, {"action": "change_password"})
    assert body == {"ok": True, "challenge_token": body["challenge_token"], "expires_in": 600}
    body = as_alice.post(VERIFY, {"challenge_token": body["challenge_token"], "code": last_code(alice.email)})
    assert body == {"ok": True, "action_token": body["action_token"], "expires_in": 300}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("disable_two_step", "two_step_disable"),
        ("Disable-Two-Step", "two_step_disable"),
        ("two-step-enable", "two_step_enable"),
        ("TWO_STEP_CHANGE", "two_step_change"),
        ("password_change", "change_password"),
        ("email-change", "change_email"),
        ("account_delete", "delete_account"),
        ("export-data", "export_data"),
        ("recovery-codes", "recovery_codes"),
    ],
)
def test_dashes_case_and_word_order_are_free(as_alice, name, meant):
    as_alice.post(CHALLENGE, {"action": name})
    assert OneTimeToken.objects.get(kind="challenge").action == meant


@pytest.mark.parametrize("name", ["", "fly", "change", "change_password_now", 7, None, True, ["x"]])
def test_an_unknown_action_is_named(as_alice, name):
    body = as_alice.post(CHALLENGE, {"action": name}, status=400)
    assert body["error"] == "validation_error"
    assert list(body["fields"]) == ["action"]
    assert mail.outbox == []


@pytest.mark.parametrize("action", ENTRY_POINTS)
def test_each_mail_says_what_will_happen(alice, as_alice, action):
    as_alice.post(CHALLENGE, {"action": action})
    words = {
        "change_password": "change the password of your account",
        "change_email": "replace the e-mail address of your account",
        "two_step_enable": "will then ask for a second password",
        "two_step_change": "change the second password of your account",
        "two_step_disable": "will then no longer ask for a second password",
        "recovery_codes": "old ones will stop working",
        "export_data": "all the data we hold about you",
        "delete_account": "delete your account",
    }
    assert words[action] in mail.outbox[-1].body
    html = mail.outbox[-1].alternatives[0][0]
    assert words[action] in html
    assert last_code(alice.email) in html


@pytest.mark.parametrize("action", ENTRY_POINTS)
class TestEveryDoor:
    def test_opens_once_for_its_token(self, alice, prepared, action):
        client = prepared(action)
        token = action_token(client, alice, action)
        done = use(client, action, token)
        assert done.status_code == 200
        again = ApiClient(sign_in(alice)[1]) if action == "delete_account" else client
        if action == "change_password":  # the token before it has no grace
            again = ApiClient(done.json()["token"])
        assert refused(use(again, action, token)) == (403, "action_token_invalid")

    def test_says_when_the_token_is_missing(self, alice, prepared, action):
        client = prepared(action)
        assert refused(use(client, action)) == (403, "action_token_required")
        assert refused(use(client, action, "")) == (403, "action_token_required")

    def test_refuses_every_other_token(self, alice, bob, as_bob, prepared, action):
        client = prepared(action)
        other = next(name for name in ENTRY_POINTS if name != action)
        elsewhere = ApiClient(sign_in(alice)[1])
        challenge = client.post(CHALLENGE, {"action": action})["challenge_token"]
        for token in (
            action_token(client, alice, other),
            action_token(elsewhere, alice, action),
            action_token(as_bob, bob, action),
            challenge,
            client.token,
            "nonsense",
            "x" * 5000,
        ):
            assert refused(use(client, action, token)) == (403, "action_token_invalid")

    def test_refuses_it_after_five_minutes(self, alice, prepared, action):
        client = prepared(action)
        token = action_token(client, alice, action)
        with time_machine.travel(timezone.now() + timedelta(minutes=5, seconds=1)):
            assert refused(use(client, action, token)) == (403, "action_token_invalid")

    def test_tells_an_unconfirmed_account_first(self, alice, as_alice, action):
        type(alice).objects.filter(id=alice.id).update(email_verified_at=None)
        assert refused(use(as_alice, action)) == (403, "email_not_verified")
        assert refused(use(as_alice, action, "nonsense")) == (403, "email_not_verified")
        assert as_alice.post(CHALLENGE, {"action": action}, status=403)["error"] == "email_not_verified"
        data = {"challenge_token": "x", "code": "123456"}
        assert as_alice.post(VERIFY, data, status=403)["error"] == "email_not_verified"


class TestChallenge:
    def refuse(self, client, challenge, code):
        data = {"challenge_token": challenge, "code": code}
        assert client.post(VERIFY, data, status=400)["error"] == "invalid_otp"

    def test_a_wrong_code_and_a_wrong_challenge_are_the_same_error(self, alice, bob, as_alice, as_bob):
        challenge = as_alice.post(CHALLENGE, {"action": "change_password"})["challenge_token"]
        code = last_code(alice.email)
        elsewhere = ApiClient(sign_in(alice)[1])
        of_bob = as_bob.post(CHALLENGE, {"action": "change_password"})["challenge_token"]
        self.refuse(as_alice, challenge, "000000" if code != "000000" else "111111")
        self.refuse(as_alice, "nonsense", code)
        self.refuse(as_alice, as_alice.token, code)
        self.refuse(as_alice, of_bob, code)
        self.refuse(elsewhere, challenge, code)
        self.refuse(as_bob, challenge, code)
        assert as_alice.post(VERIFY, {"challenge_token": challenge, "code": code})["ok"]
        self.refuse(as_alice, challenge, code)

    def test_it_lives_ten_minutes(self, alice, as_alice):
        challenge = as_alice.post(CHALLENGE, {"action": "change_password"})["challenge_token"]
        code = last_code(alice.email)
        with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
            self.refuse(as_alice, challenge, code)

    def test_five_wrong_codes_end_it(self, alice, as_alice):
        challenge = as_alice.post(CHALLENGE, {"action": "change_password"})["challenge_token"]
        code = last_code(alice.email)
        wrong = f"{(int(code) + 1) % 1_000_000:06d}"
        for _ in range(5):
            self.refuse(as_alice, challenge, wrong)
        self.refuse(as_alice, challenge, code)

    def test_the_code_of_another_action_does_not_answer_it(self, alice, as_alice):
        challenge = as_alice.post(CHALLENGE, {"action": "delete_account"})["challenge_token"]
        as_alice.post(CHALLENGE, {"action": "export_data"})
        self.refuse(as_alice, challenge, last_code(alice.email))

    def test_missing_fields_are_named(self, as_alice):
        body = as_alice.post(VERIFY, {}, status=400)
        assert body["error"] == "validation_error"
        assert set(body["fields"]) == {"challenge_token", "code"}


def test_a_failed_action_gives_the_token_back_but_only_five_times(alice, as_alice):
    token = action_token(as_alice, alice, "change_password")
    wrong = {"current_password": "not it at all", "new_password": NEW}
    for _ in range(5):
        headers = {"X-Action-Token": token}
        body = as_alice.post("/api/v1/auth/change-password", wrong, status=401, headers=headers)
        assert body["error"] == "invalid_credentials"
    assert refused(use(as_alice, "change_password", token)) == (403, "action_token_invalid")


def test_logout_ends_the_token(alice, as_alice):
    token = action_token(as_alice, alice, "export_data")
    as_alice.post("/api/v1/auth/logout")
    assert refused(use(as_alice, "export_data", token)) == (401, "token_revoked")
    assert refused(use(ApiClient(sign_in(alice)[1]), "export_data", token)) == (403, "action_token_invalid")


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_one_code_gives_one_action_token(self, alice, as_alice):
        challenge = as_alice.post(CHALLENGE, {"action": "change_password"})["challenge_token"]
        data = {"challenge_token": challenge, "code": last_code(alice.email)}
        got = parallel_outcomes(20, lambda n: as_alice.raw("POST", VERIFY, data))
        assert answers(got) == {"200": 1, "invalid_otp": 19}
        assert OneTimeToken.objects.filter(kind="action").count() == 1

    @pytest.mark.parametrize("action", ["recovery_codes", "two_step_enable", "delete_account"])
    def test_one_action_token_acts_once(self, alice, as_alice, action):
        if action in NEEDS_SECOND_STEP:
            enable_two_step(as_alice, alice)
        token = action_token(as_alice, alice, action)
        got = parallel_outcomes(20, lambda n: use(as_alice, action, token))
        counted = answers(got)
        assert counted.pop("200") == 1
        # A request after the deletion finds its session ended; one after `enable`, that it is on.
        assert set(counted) <= {"action_token_invalid", "token_revoked", "validation_error"}
        assert OneTimeToken.objects.filter(kind="action", used_at=None).count() == 0


def test_the_code_goes_to_the_address_that_the_account_has_now(alice):
    """The address may have changed since the request was authenticated."""
    session, _ = sign_in(alice)
    User.objects.filter(id=alice.id).update(email="new@example.com")
    action_tokens.challenge(user=alice, session=session, action="export_data")
    assert mail.outbox[-1].to == ["new@example.com"]
    assert alice.codes.get().address == "new@example.com"
