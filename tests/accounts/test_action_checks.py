"""What an action will be asked with is refused before its code is mailed, under the counts of a sign-in."""

import pytest
from django.core import mail

from accounts.models import User
from tests.accounts.steps import SECOND, action_token, enable_two_step
from tests.factories import PASSWORD

CHALLENGE = "/api/v1/auth/action-challenge"
NEW = "amber window 77"


def asked(client, action, status, **fields):
    return client.post(CHALLENGE, {"action": action, **fields}, status=status)


def stored(user):
    return User.objects.get(id=user.id)


@pytest.mark.parametrize(
    ("action", "fields", "status", "error"),
    [
        ("change_password", {"current_password": "not this one 1", "new_password": NEW}, 401, "invalid_credentials"),
        ("change_password", {"current_password": PASSWORD, "new_password": "short"}, 400, "validation_error"),
        ("change_password", {"current_password": PASSWORD, "new_password": PASSWORD}, 400, "validation_error"),
        ("change_email", {"email": "bob@example.com"}, 409, "email_taken"),
        ("two_step_enable", {"password": PASSWORD}, 400, "validation_error"),
        ("two_step_enable", {"password": SECOND, "hint": SECOND}, 400, "validation_error"),
    ],
)
def test_a_refusal_mails_no_code(alice, as_alice, bob, action, fields, status, error):
    User.objects.filter(id=bob.id).update(email="bob@example.com")
    assert asked(as_alice, action, status, **fields)["error"] == error
    assert mail.outbox == []


def test_what_will_do_gets_its_code(alice, as_alice):
    for action, fields in (
        ("change_password", {"current_password": PASSWORD, "new_password": NEW}),
        ("two_step_enable", {"password": SECOND, "hint": "the kettle"}),
        ("export_data", {"password": "of no action"}),
    ):
        assert asked(as_alice, action, 200, **fields)["challenge_token"]
    assert len(mail.outbox) == 3
    # It is no action yet.
    assert stored(alice).check_password(PASSWORD) and not stored(alice).two_step_enabled


def test_wrong_second_passwords_count_before_the_code_too(alice, as_alice):
    enable_two_step(as_alice, alice)
    mail.outbox.clear()
    wrong = {"password": "not the second 1"}
    assert asked(as_alice, "two_step_disable", 401, **wrong)["error"] == "invalid_two_step"
    assert asked(as_alice, "two_step_change", 401, new_password=NEW, **wrong)["error"] == "invalid_two_step"
    assert stored(alice).wrong_second_passwords == 2
    assert mail.outbox == []
    asked(as_alice, "two_step_disable", 200, password=SECOND)
    assert stored(alice).wrong_second_passwords == 2


def test_the_first_password_cannot_be_guessed_by_challenges(alice, as_alice):
    for _ in range(5):
        asked(as_alice, "change_password", 401, current_password="not this one 1", new_password=NEW)
    assert stored(alice).wrong_passwords + sum(row.wrong_passwords for row in alice.network_locks.all()) == 5
    # From now on nothing is compared, and the right one tells no more than a wrong one.
    for guess in (PASSWORD, "not this one 1"):
        assert asked(as_alice, "change_password", 200, current_password=guess, new_password=NEW)["ok"]


def test_the_first_password_cannot_be_guessed_as_a_second_one(alice, as_alice, settings):
    settings.ACCOUNTS_WRONG_SECOND_PASSWORDS_A_DAY = 3
    for number in range(3):
        asked(as_alice, "two_step_enable", 200, password=f"not the first {number}")
    assert asked(as_alice, "two_step_enable", 200, password=PASSWORD)["ok"]
    # The action itself still refuses it.
    token = action_token(as_alice, alice, "two_step_enable")
    body = {"password": PASSWORD}
    reply = as_alice.post("/api/v1/auth/two-step/enable", body, status=400, headers={"X-Action-Token": token})
    assert reply["error"] == "validation_error"
