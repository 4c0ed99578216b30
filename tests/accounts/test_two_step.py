"""The second step of a sign-in."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import OneTimeToken, User
from accounts.services import account_status
from accounts.sign_in import second_step
from tests.accounts.steps import SECOND, answers, enable_two_step, last_code, login, send_second_step
from tests.client import ApiClient
from tests.parallel import parallel_outcomes

TWO_STEP = "/api/v1/auth/two-step"
FORGOT = "/api/v1/auth/two-step/forgot"
RESEND = "/api/v1/auth/resend-two-step"


@pytest.fixture
def codes(alice, as_alice):
    """Alice's recovery codes; her second step is on."""
    return enable_two_step(as_alice, alice, hint="the lamp")


def test_login_asks_for_the_second_password_and_shows_the_hint(alice, codes):
    body = login(alice)
    assert body == {
        "ok": True,
        "two_step_required": True,
        "two_step_token": body["two_step_token"],
        "hint": "the lamp",
    }


def test_without_a_hint_login_sends_an_empty_one(bob, as_bob):
    enable_two_step(as_bob, bob)
    assert login(bob)["hint"] == ""


def test_the_right_second_password_signs_in(alice, codes):
    body = send_second_step(alice).post(TWO_STEP, {"password": SECOND})
    assert body == {
        "ok": True,
        "token": body["token"],
        "expires_at": body["expires_at"],
        "user": {
            "id": alice.id,
            "username": alice.username,
            "email": alice.email,
            "first_name": "Alice",
            "last_name": "Archer",
            "is_verified": True,
        },
    }
    assert ApiClient(body["token"]).get("/api/v1/auth/me")["user"]["id"] == alice.id


def test_several_tokens_may_be_pending_and_each_works_once(alice, codes):
    first, second = send_second_step(alice), send_second_step(alice)
    first.post(TWO_STEP, {"password": SECOND})
    second.post(TWO_STEP, {"password": SECOND})
    assert first.post(TWO_STEP, {"password": SECOND}, status=401)["error"] == "token_revoked"
    assert first.post(FORGOT, {"recovery_code": codes[0]}, status=401)["error"] == "token_revoked"


def test_five_wrong_ones_end_the_token(alice, codes):
    client = send_second_step(alice)
    for _ in range(5):
        assert client.post(TWO_STEP, {"password": "not it at all"}, status=401)["error"] == "invalid_two_step"
    assert client.post(TWO_STEP, {"password": SECOND}, status=401)["error"] == "token_revoked"


def test_a_wrong_field_costs_no_try(alice, codes):
    client = send_second_step(alice)
    for bad in ({}, {"password": ""}, {"password": 1}, {"password": SECOND, "remember": "true"}):
        assert client.post(TWO_STEP, bad, status=400)["error"] == "validation_error"
    assert OneTimeToken.objects.filter(kind="two_step", used_at=None).get().tries == 0


def test_an_account_has_ten_wrong_ones_a_day_however_often_it_signs_in(alice, codes):
    wrong = 0
    for _ in range(2):
        client = send_second_step(alice)
        for _ in range(5):
            client.post(TWO_STEP, {"password": "not it at all"}, status=401)
            wrong += 1
    assert wrong == 10
    client = send_second_step(alice)
    body = client.post(TWO_STEP, {"password": SECOND}, status=429)
    assert body["error"] == "account_locked"
    assert 0 < body["retry_after"] <= 86_400
    client.post(RESEND)
    code = last_code(alice.email)
    assert client.post(TWO_STEP, {"password": code}, status=429)["error"] == "account_locked"
    assert client.post(FORGOT, {"recovery_code": codes[0]})["recovery_codes_left"] == 9


def test_a_day_later_the_second_password_works_again(alice, codes):
    User.objects.filter(id=alice.id).update(wrong_second_passwords=10, wrong_second_passwords_day=timezone.now().date())
    send_second_step(alice).post(TWO_STEP, {"password": SECOND}, status=429)
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        send_second_step(alice).post(TWO_STEP, {"password": SECOND})


def test_right_ones_do_not_use_the_day_up(alice, codes):
    for _ in range(12):
        send_second_step(alice).post(TWO_STEP, {"password": SECOND})


def test_the_owner_is_notified_of_the_third_wrong_one(alice, codes):
    client = send_second_step(alice)
    mail.outbox.clear()
    for _ in range(2):
        client.post(TWO_STEP, {"password": "not it at all"}, status=401)
    assert mail.outbox == []
    client.post(TWO_STEP, {"password": "not it at all"}, status=401)
    assert [sent.to for sent in mail.outbox] == [[alice.email]]
    assert "not it at all" not in mail.outbox[0].body


def test_the_token_lives_ten_minutes(alice, codes):
    client = send_second_step(alice)
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
        for path, data in ((TWO_STEP, {"password": SECOND}), (RESEND, None), (FORGOT, {"recovery_code": codes[0]})):
            assert client.post(path, data, status=401)["error"] == "token_revoked"


@pytest.mark.parametrize("path", [TWO_STEP, RESEND, FORGOT])
def test_only_a_two_step_token_opens_the_second_step(alice, as_alice, codes, path):
    challenge = as_alice.post("/api/v1/auth/action-challenge", {"action": "change_password"})["challenge_token"]
    for token in (as_alice.token, challenge, "x", "a.b.c", "é"):
        body = ApiClient(token).post(path, {"password": SECOND, "recovery_code": codes[0]}, status=401)
        assert body["error"] == "token_invalid"
    assert ApiClient().post(path, {"password": SECOND}, status=401)["error"] == "token_invalid"


def test_a_blocked_account_gets_no_token(alice, codes):
    client = send_second_step(alice)
    account_status.block(user=alice, actor="test", reason="spam")
    assert client.post(TWO_STEP, {"password": SECOND}, status=403)["error"] == "account_blocked"
    assert client.post(RESEND, status=403)["error"] == "account_blocked"
    assert client.post(FORGOT, {"recovery_code": codes[0]}, status=403)["error"] == "account_blocked"


class TestMailedCode:
    def test_eight_digits_stand_in_for_the_second_password(self, alice, codes):
        client = send_second_step(alice)
        body = client.post(RESEND)
        assert body == {"ok": True, "message": body["message"]}
        code = last_code(alice.email)
        assert len(code) == 8
        assert client.post(TWO_STEP, {"password": code})["user"]["id"] == alice.id
        again = send_second_step(alice)
        assert again.post(TWO_STEP, {"password": code}, status=401)["error"] == "invalid_two_step"

    def test_it_lives_ten_minutes(self, alice, codes):
        send_second_step(alice).post(RESEND)
        code = last_code(alice.email)
        with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
            body = send_second_step(alice).post(TWO_STEP, {"password": code}, status=401)
        assert body["error"] == "invalid_two_step"

    def test_a_new_one_replaces_it(self, alice, codes):
        client = send_second_step(alice)
        client.post(RESEND)
        old = last_code(alice.email)
        client.post(RESEND)
        assert client.post(TWO_STEP, {"password": old}, status=401)["error"] == "invalid_two_step"
        assert client.post(TWO_STEP, {"password": last_code(alice.email)})["ok"]

    def test_for_a_week_after_a_reset_by_mail_there_is_none_and_the_mail_says_why(self, alice, codes):
        now = timezone.now()
        User.objects.filter(id=alice.id).update(password_reset_at=now)
        client = send_second_step(alice)
        mail.outbox.clear()
        refused = client.post(RESEND)
        assert "7 days" in mail.outbox[0].body
        with pytest.raises(AssertionError):
            last_code(alice.email)
        with time_machine.travel(now + timedelta(days=7, seconds=1)):
            client = send_second_step(alice)
            assert client.post(RESEND) == refused
            assert client.post(TWO_STEP, {"password": last_code(alice.email)})["ok"]

    def test_a_code_of_another_purpose_is_no_second_password(self, alice, as_alice, codes):
        as_alice.post("/api/v1/auth/action-challenge", {"action": "two_step_disable"})
        code = last_code(alice.email)
        assert send_second_step(alice).post(TWO_STEP, {"password": code}, status=401)["error"] == "invalid_two_step"


class TestRecoveryCode:
    def test_it_signs_in_once_and_tells_the_owner(self, alice, codes):
        client = send_second_step(alice)
        mail.outbox.clear()
        body = client.post(FORGOT, {"recovery_code": codes[3]})
        assert body.keys() == {"ok", "token", "expires_at", "user", "recovery_codes_left"}
        assert body["recovery_codes_left"] == 9
        assert any("recovery code" in sent.subject for sent in mail.outbox)
        again = send_second_step(alice)
        assert again.post(FORGOT, {"recovery_code": codes[3]}, status=401)["error"] == "invalid_two_step"

    def test_case_dashes_and_spaces_do_not_matter(self, alice, codes):
        typed = " ".join(codes[0].lower().replace("-", ""))
        assert send_second_step(alice).post(FORGOT, {"recovery_code": typed})["recovery_codes_left"] == 9

    def test_another_persons_code_is_wrong(self, alice, bob, as_bob, codes):
        of_bob = enable_two_step(as_bob, bob)
        body = send_second_step(alice).post(FORGOT, {"recovery_code": of_bob[0]}, status=401)
        assert body["error"] == "invalid_two_step"

    def test_wrong_ones_share_the_five_tries_of_the_token(self, alice, codes):
        client = send_second_step(alice)
        for _ in range(5):
            body = client.post(FORGOT, {"recovery_code": "0000-0000-0000-0000"}, status=401)
            assert body["error"] == "invalid_two_step"
        assert client.post(FORGOT, {"recovery_code": codes[0]}, status=401)["error"] == "token_revoked"
        assert client.post(TWO_STEP, {"password": SECOND}, status=401)["error"] == "token_revoked"

    def test_only_digests_are_stored(self, alice, codes):
        stored = list(alice.recovery_codes.values_list("digest", flat=True))
        assert len(set(stored)) == 10
        assert all(len(digest) == 64 for digest in stored)


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_one_recovery_code_opens_one_session(self, alice, as_alice):
        codes = enable_two_step(as_alice, alice)
        clients = [ApiClient(pending_token(alice)) for _ in range(20)]
        got = parallel_outcomes(20, lambda n: clients[n].raw("POST", FORGOT, {"recovery_code": codes[0]}))
        assert answers(got) == {"200": 1, "invalid_two_step": 19}
        assert alice.sessions.count() == 2

    def test_one_token_opens_one_session(self, alice, as_alice):
        enable_two_step(as_alice, alice)
        client = ApiClient(pending_token(alice))
        got = parallel_outcomes(20, lambda n: client.raw("POST", TWO_STEP, {"password": SECOND}))
        assert answers(got) == {"200": 1, "token_revoked": 19}
        assert alice.sessions.count() == 2
        alice.refresh_from_db()
        assert alice.wrong_second_passwords == 0

    def test_one_mailed_code_opens_one_session(self, alice, as_alice):
        enable_two_step(as_alice, alice)
        clients = [ApiClient(pending_token(alice)) for _ in range(10)]
        clients[0].post(RESEND)
        code = last_code(alice.email)
        got = parallel_outcomes(10, lambda n: clients[n].raw("POST", TWO_STEP, {"password": code}))
        assert answers(got)["200"] == 1
        assert alice.sessions.count() == 2

    def test_parallel_wrong_ones_are_ten_a_day_too(self, alice, as_alice):
        enable_two_step(as_alice, alice)
        clients = [ApiClient(pending_token(alice)) for _ in range(20)]
        got = parallel_outcomes(20, lambda n: clients[n].raw("POST", TWO_STEP, {"password": "not it at all"}))
        assert answers(got) == {"invalid_two_step": 10, "account_locked": 10}


def pending_token(user):
    """What login gives, without the cost of the first password's hash."""
    return OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=user)


def test_the_mailed_step_heeds_what_has_changed_since_the_request_was_read(alice, codes):
    token = login(alice)["two_step_token"]
    pending = OneTimeToken.objects.of(token, OneTimeToken.Kind.TWO_STEP)
    User.objects.filter(id=alice.id).update(email="new@example.com")
    second_step.resend(pending=pending, network="192.0.2.1")
    assert mail.outbox[-1].to == ["new@example.com"]
    assert alice.codes.get(purpose="two_step").address == "new@example.com"
    User.objects.filter(id=alice.id).update(password_reset_at=timezone.now())
    second_step.resend(pending=pending, network="192.0.2.1")
    assert "7 days" in mail.outbox[-1].body
