"""Another user registers an address before its owner does."""

import pytest

from accounts.models import OneTimeToken, TrustedDevice, User
from accounts.services import account_status, codes
from tests.client import ApiClient
from tests.contract.test_signing_in import AUTH, PERSON, mailed_code
from tests.factories import sign_in

ATTACKER = PERSON | {"email": "victim@example.com", "password": "attackers horse 9"}
VICTIM = PERSON | {"email": "victim@example.com", "password": "victims horse 9"}


@pytest.fixture
def attacker(anonymous):
    """Signed in to an account of the victim's address, which is not confirmed."""
    anonymous.post(f"{AUTH}/signup", ATTACKER, status=201)
    login = {"email": ATTACKER["email"], "password": ATTACKER["password"]}
    return ApiClient(anonymous.post(f"{AUTH}/login", login)["token"])


def test_the_owner_gets_the_account_and_the_attacker_nothing(anonymous, attacker, mailoutbox):
    code = mailed_code(mailoutbox, VICTIM["email"])
    assert anonymous.post(f"{AUTH}/signup", VICTIM, status=409)["error"] == "email_taken"
    attacker.get(f"{AUTH}/me")
    body = anonymous.post(f"{AUTH}/verify", {"email": VICTIM["email"], "code": code})
    victim = ApiClient(body["token"])
    assert victim.get(f"{AUTH}/me")["user"]["is_verified"] is True

    assert attacker.get(f"{AUTH}/me", status=401)["error"] == "token_revoked"
    assert attacker.post(f"{AUTH}/refresh", status=401)["error"] == "token_revoked"
    for password in (ATTACKER["password"], VICTIM["password"]):
        login = {"email": VICTIM["email"], "password": password}
        assert anonymous.post(f"{AUTH}/login", login, status=401)["error"] == "invalid_credentials"

    assert mailoutbox[-1].subject == "Please choose your password"
    new = {
        "email": VICTIM["email"],
        "code": mailed_code(mailoutbox, VICTIM["email"]),
        "new_password": VICTIM["password"],
    }
    anonymous.post(f"{AUTH}/verify-reset", new)
    anonymous.post(f"{AUTH}/login", {"email": VICTIM["email"], "password": VICTIM["password"]})


def test_without_a_second_sign_up_the_password_stays(anonymous, attacker, mailoutbox):
    code = mailed_code(mailoutbox, ATTACKER["email"])
    anonymous.post(f"{AUTH}/verify", {"email": ATTACKER["email"], "code": code})
    attacker.get(f"{AUTH}/me")
    anonymous.post(f"{AUTH}/login", {"email": ATTACKER["email"], "password": ATTACKER["password"]})


def test_a_reset_settles_it_as_well(anonymous, attacker, mailoutbox):
    anonymous.post(f"{AUTH}/signup", VICTIM, status=409)
    anonymous.post(f"{AUTH}/forgot-password", {"email": VICTIM["email"]})
    new = {
        "email": VICTIM["email"],
        "code": mailed_code(mailoutbox, VICTIM["email"]),
        "new_password": VICTIM["password"],
    }
    anonymous.post(f"{AUTH}/verify-reset", new)
    attacker.get(f"{AUTH}/me", status=401)
    user = User.objects.get()
    assert user.has_verified_email and user.contested_at is None
    anonymous.post(f"{AUTH}/login", {"email": VICTIM["email"], "password": VICTIM["password"]})


def test_staff_confirming_a_contested_address_does_not_keep_the_password(anonymous, attacker):
    anonymous.post(f"{AUTH}/signup", VICTIM, status=409)
    account_status.mark_verified(user=User.objects.get(), reason="by phone", actor="test")
    attacker.get(f"{AUTH}/me", status=401)
    assert not User.objects.get().has_usable_password()


def test_the_owner_of_a_confirmed_address_is_notified_of_a_sign_up(anonymous, alice, mailoutbox):
    anonymous.post(f"{AUTH}/signup", PERSON | {"email": alice.email}, status=409)
    assert [(mail.to, mail.subject) for mail in mailoutbox] == [([alice.email], "You already have an account")]
    assert User.objects.get(id=alice.id).contested_at is None


def test_a_reset_ends_everything_that_the_old_password_opened(anonymous, alice):
    _session, token = sign_in(alice)
    User.objects.filter(id=alice.id).update(second_password="set", wrong_passwords=3)
    pending = OneTimeToken.objects.issue(kind="two_step", user=alice)
    other = codes.issue(user=alice, purpose="two_step", address=alice.email)
    code = codes.issue(user=alice, purpose="reset", address=alice.email)
    from accounts.services import two_step

    _, device_token = two_step.remember_device(user=alice)
    anonymous.post(f"{AUTH}/verify-reset", {"email": alice.email, "code": code, "new_password": "another horse 9"})
    assert ApiClient(token).get(f"{AUTH}/me", status=401)["error"] == "token_revoked"
    assert not OneTimeToken.objects.of(pending, "two_step").is_live()
    assert TrustedDevice.objects.of(alice, device_token) is None
    assert not alice.codes.exists()
    assert other
    alice.refresh_from_db()
    assert alice.two_step_enabled
    assert alice.wrong_passwords == 0
    assert alice.password_reset_at is not None
    login = {"email": alice.email, "password": "another horse 9"}
    assert anonymous.post(f"{AUTH}/login", login)["two_step_required"] is True
