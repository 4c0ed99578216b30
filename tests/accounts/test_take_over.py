"""Another user registers an address before its owner does."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import OneTimeToken, TrustedDevice, User
from accounts.services import account_status
from accounts.sign_in import codes, trusted_devices
from tests.client import ApiClient
from tests.contract.test_signing_in import AUTH, PERSON, mailed_code
from tests.factories import sign_in
from tests.hashers import QuickHasher

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
    assert attacker.get(f"{AUTH}/me", status=401)["error"] == "token_revoked"
    anonymous.post(f"{AUTH}/login", {"email": ATTACKER["email"], "password": ATTACKER["password"]})


def test_the_client_that_brings_the_code_keeps_its_token(anonymous, attacker, mailoutbox):
    """One person who signed in before the confirmation, and who holds the code as well as the token."""
    other = ApiClient(sign_in(User.objects.get())[1])
    code = mailed_code(mailoutbox, ATTACKER["email"])
    token = attacker.post(f"{AUTH}/verify", {"email": ATTACKER["email"], "code": code})["token"]
    for mine in (attacker, ApiClient(token)):
        assert mine.get(f"{AUTH}/me")["user"]["is_verified"] is True
    assert other.get(f"{AUTH}/me", status=401)["error"] == "token_revoked"


def test_a_token_of_another_account_keeps_nothing(attacker, alice, as_alice, mailoutbox):
    code = mailed_code(mailoutbox, ATTACKER["email"])
    as_alice.post(f"{AUTH}/verify", {"email": ATTACKER["email"], "code": code})
    assert attacker.get(f"{AUTH}/me", status=401)["error"] == "token_revoked"
    as_alice.get(f"{AUTH}/me")


OWNER = VICTIM | {"first_name": "Real", "last_name": "Owner", "language": "de"}
UNKIND = {"first_name": "Rude", "last_name": "Fraud", "bio": "I am a fraud.", "language": "ru"}
PRIVACY = {"who_can_message": "nobody", "read_receipts": False, "show_last_seen": False, "relay_calls": True}
SWITCHES = dict.fromkeys(("enabled", "likes", "comments", "follows", "messages"), False) | {"quiet_mode": True}


def settings_of(client):
    """All that an account shows and has chosen; not what is its own."""
    return {
        "profile": {
            name: value
            for name, value in client.get("/api/v1/profile")["profile"].items()
            if name not in {"id", "created_at", "email", "username"}
        },
        "privacy": client.get("/api/v1/profile/privacy")["privacy"],
        "preferences": client.get("/api/v1/notifications/preferences")["preferences"],
    }


@pytest.mark.parametrize("proof", ["verify", "verify-reset", "staff"])
def test_the_owner_finds_nothing_of_what_another_has_set(anonymous, attacker, mailoutbox, proof):
    attacker.patch("/api/v1/profile", UNKIND)
    attacker.put("/api/v1/profile/privacy", PRIVACY)
    attacker.put("/api/v1/notifications/preferences", SWITCHES)
    confirmation = mailed_code(mailoutbox, OWNER["email"])
    anonymous.post(f"{AUTH}/signup", OWNER, status=409)
    if proof == "verify":
        anonymous.post(f"{AUTH}/verify", {"email": OWNER["email"], "code": confirmation})
    elif proof == "staff":
        account_status.mark_verified(user=User.objects.get(), reason="by phone", actor="test")
    if proof == "verify-reset":
        anonymous.post(f"{AUTH}/forgot-password", {"email": OWNER["email"]})
    new = {"email": OWNER["email"], "code": mailed_code(mailoutbox, OWNER["email"]), "new_password": OWNER["password"]}
    anonymous.post(f"{AUTH}/verify-reset", new)
    token = anonymous.post(f"{AUTH}/login", {"email": OWNER["email"], "password": OWNER["password"]})["token"]

    person = OWNER | {"email": "fresh@example.com"}
    anonymous.post(f"{AUTH}/signup", person, status=201)
    code = mailed_code(mailoutbox, person["email"])
    fresh = ApiClient(anonymous.post(f"{AUTH}/verify", {"email": person["email"], "code": code})["token"])
    owner = ApiClient(token)
    assert settings_of(owner) == settings_of(fresh)
    username = owner.get("/api/v1/profile")["profile"]["username"]
    assert username.startswith("real_")
    owner.patch("/api/v1/profile", {"username": "the_owner"})  # the change of another does not count


def test_one_sign_up_keeps_what_its_person_has_set(anonymous, attacker, mailoutbox):
    attacker.patch("/api/v1/profile", {"bio": "Radio."})
    attacker.put("/api/v1/notifications/preferences", SWITCHES)
    code = mailed_code(mailoutbox, ATTACKER["email"])
    token = anonymous.post(f"{AUTH}/verify", {"email": ATTACKER["email"], "code": code})["token"]
    found = settings_of(ApiClient(token))
    assert (found["profile"]["bio"], found["preferences"]) == ("Radio.", SWITCHES)


@pytest.mark.parametrize("repeat", [{}, {"first_name": "Annie", "language": "fr"}])
def test_a_sign_up_again_with_the_same_password_contests_nothing(anonymous, mailoutbox, repeat):
    """After a lost reply or a double tap: the client that knows the password is the same person."""
    anonymous.post(f"{AUTH}/signup", VICTIM, status=201)
    code = mailed_code(mailoutbox, VICTIM["email"])
    assert anonymous.post(f"{AUTH}/signup", VICTIM | repeat, status=409)["error"] == "email_taken"
    assert len(mailoutbox) == 1
    anonymous.post(f"{AUTH}/verify", {"email": VICTIM["email"], "code": code})
    assert len(mailoutbox) == 1
    anonymous.post(f"{AUTH}/login", {"email": VICTIM["email"], "password": VICTIM["password"]})


def test_a_repeat_does_not_settle_what_another_has_contested(anonymous, mailoutbox):
    anonymous.post(f"{AUTH}/signup", VICTIM, status=201)
    code = mailed_code(mailoutbox, VICTIM["email"])
    anonymous.post(f"{AUTH}/signup", ATTACKER, status=409)
    anonymous.post(f"{AUTH}/signup", VICTIM, status=409)
    anonymous.post(f"{AUTH}/verify", {"email": VICTIM["email"], "code": code})
    assert mailoutbox[-1].subject == "Please choose your password"


def test_every_sign_up_with_a_registered_address_costs_the_same(anonymous, alice, monkeypatch):
    """One hash and as many statements, so that the time of the reply does not show whether the password is right."""
    hashes = []
    for name in ("verify", "encode"):
        method = getattr(QuickHasher, name)
        monkeypatch.setattr(
            QuickHasher, name, lambda self, *values, m=method, n=name: (hashes.append(n), m(self, *values))[1]
        )
    anonymous.post(f"{AUTH}/signup", VICTIM, status=201)
    costs = set()
    for body in (VICTIM, ATTACKER, ATTACKER):
        hashes.clear()
        with CaptureQueriesContext(connection) as queries:
            anonymous.post(f"{AUTH}/signup", body, status=409)
        # PBKDF2 verifies by encoding: one of each.
        costs.add((len(queries), tuple(hashes)))
    assert len(costs) == 1
    hashes.clear()
    anonymous.post(f"{AUTH}/signup", PERSON | {"email": alice.email}, status=409)
    assert (tuple(hashes),) == tuple({cost[1] for cost in costs})


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

    _, device_token = trusted_devices.remember_device(user=alice)
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
