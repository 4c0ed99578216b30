"""The login lockout: the same for every address, never extended by waiting, never against the owner."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import emails
from accounts.models import AuditEntry, NetworkLock, UnknownAddress, User
from accounts.services import account_status
from accounts.sign_in import codes, lockout, trusted_devices
from notifications.models import Delivery
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in
from tests.hashers import QuickHasher

AUTH = "/api/v1/auth"


def attempt(anonymous, email, password="wrong"):
    """The status, and the seconds to wait when there are some."""
    response = anonymous.raw("POST", f"{AUTH}/login", {"email": email, "password": password})
    body = response.json()
    if response.status_code == 429:
        assert body["error"] == "account_locked"
        assert response.headers["Retry-After"] == str(body["retry_after"])
    return response.status_code, body.get("retry_after")


def about(seconds):
    return pytest.approx(seconds, abs=2)


def test_an_account_with_the_longest_address_is_locked_too(anonymous, db):
    ann = make_user("Ann")
    ann.email = f"ann@{'.'.join(['d' * 49] * 5)}"
    ann.save(update_fields=["email"])
    assert [attempt(anonymous, ann.email)[0] for _ in range(6)] == [401] * 5 + [429]
    assert AuditEntry.objects.get(action="user.locked").target_label == ann.email


@pytest.mark.parametrize("known", [True, False])
def test_the_schedule(anonymous, clock, known):
    email = make_user("Ann").email if known else "nobody@example.com"
    for wait in (60, 300, 900, 900, 900):
        assert [attempt(anonymous, email)[0] for _ in range(5)] == [401] * 5
        assert attempt(anonymous, email) == (429, about(wait))
        clock.forward(seconds=wait - 10)
        # Tries in the meantime neither count nor lengthen the wait, nor is the right password looked at.
        assert attempt(anonymous, email) == (429, about(10))
        assert attempt(anonymous, email, PASSWORD) == (429, about(10))
        clock.forward(seconds=11)
    if known:
        assert attempt(anonymous, email, PASSWORD)[0] == 200
        assert [attempt(anonymous, email)[0] for _ in range(5)] == [401] * 5
        assert attempt(anonymous, email) == (429, about(60))


@pytest.mark.parametrize("known", [True, False])
def test_wrong_passwords_of_yesterday_are_forgotten(anonymous, clock, known):
    email = make_user("Ann").email if known else "nobody@example.com"
    for _ in range(4):
        attempt(anonymous, email)
    clock.forward(hours=25)
    assert [attempt(anonymous, email)[0] for _ in range(5)] == [401] * 5
    assert attempt(anonymous, email)[0] == 429


def test_success_clears_the_count(anonymous, alice):
    for _ in range(3):
        assert [attempt(anonymous, alice.email)[0] for _ in range(4)] == [401] * 4
        assert attempt(anonymous, alice.email, PASSWORD)[0] == 200


def locked(anonymous, user):
    for _ in range(5):
        attempt(anonymous, user.email)
    assert attempt(anonymous, user.email, PASSWORD)[0] == 429


def test_live_sessions_and_a_reset_work_while_locked(anonymous, alice, mailoutbox):
    client = ApiClient(sign_in(alice)[1])
    locked(anonymous, alice)
    client.get(f"{AUTH}/me")
    ApiClient(client.post(f"{AUTH}/refresh")["token"]).get(f"{AUTH}/me")
    anonymous.post(f"{AUTH}/forgot-password", {"email": alice.email})
    code = codes.issue(user=alice, purpose="reset", address=alice.email)
    anonymous.post(f"{AUTH}/verify-reset", {"email": alice.email, "code": code, "new_password": "another horse 9"})
    assert attempt(anonymous, alice.email, "another horse 9")[0] == 200


def test_staff_unlock(anonymous, alice):
    locked(anonymous, alice)
    account_status.unlock(user=alice, reason="asked by phone", actor="test")
    assert attempt(anonymous, alice.email, PASSWORD)[0] == 200
    assert AuditEntry.objects.get(action="user.unlocked").reason == "asked by phone"


def test_a_trusted_device_is_not_locked_out_but_may_not_guess_for_ever(anonymous, alice, bob):
    _, token = trusted_devices.remember_device(user=alice)
    _, other = trusted_devices.remember_device(user=bob)
    locked(anonymous, alice)
    trusted, foreign = (ApiClient(None, **{"X-Device-Token": value}) for value in (token, other))
    assert attempt(foreign, alice.email, PASSWORD)[0] == 429
    assert attempt(trusted, alice.email, PASSWORD)[0] == 200
    locked(anonymous, alice)
    assert [attempt(trusted, alice.email)[0] for _ in range(12)] == [401] * 9 + [429] * 3
    # The device's sign-in made this network a known one, which counts on its own.
    assert User.objects.get(id=alice.id).wrong_passwords == 0
    assert NetworkLock.objects.get(user=alice).wrong_passwords == 5


def test_the_owner_is_mailed_once_a_series(anonymous, alice, clock, mailoutbox):
    for wait in (60, 300, 900):
        for _ in range(6):
            attempt(anonymous, alice.email)
        clock.forward(seconds=wait + 1)
    assert [(mail.to, mail.subject) for mail in mailoutbox] == [([alice.email], "Sign-in to your account is paused")]


def test_a_clock_that_was_ahead_locks_no_account_for_ever(anonymous, alice, clock):
    clock.forward(days=8)
    locked(anonymous, alice)
    clock.forward(days=-8)
    assert attempt(anonymous, alice.email, PASSWORD)[0] == 200


def test_unknown_addresses_are_not_stored(anonymous):
    attempt(anonymous, "nobody@example.com")
    row = UnknownAddress.objects.get()
    assert "nobody" not in row.key
    assert isinstance(lockout.row_for("nobody@example.com", None, "192.0.2.1"), UnknownAddress)


@pytest.fixture
def hashed(monkeypatch):
    """How many password hashes were computed."""
    seen = []
    encode = QuickHasher.encode
    monkeypatch.setattr(QuickHasher, "encode", lambda self, *args, **kw: (seen.append(1), encode(self, *args, **kw))[1])
    return seen


def test_every_kind_of_account_costs_one_hash(anonymous, hashed):
    unusable = make_user("Ann")
    unusable.set_unusable_password()
    unusable.save()
    emails = {
        "known": make_user("Ann").email,
        "unknown": "nobody@example.com",
        "unconfirmed": make_user("Ann", verified=False).email,
        "blocked": make_user("Ann", blocked_at="2026-01-01T00:00:00Z").email,
        "unusable": unusable.email,
        "two-step": make_user("Ann", second_password="set").email,
    }
    cost = {}
    for kind, email in emails.items():
        hashed.clear()
        assert attempt(anonymous, email)[0] == 401
        cost[kind] = len(hashed)
    assert cost == dict.fromkeys(emails, 1)
    for email in emails.values():
        for _ in range(4):
            attempt(anonymous, email)
    for kind, email in emails.items():
        hashed.clear()
        assert attempt(anonymous, email)[0] == 429
        cost[kind] = len(hashed)
    assert cost == dict.fromkeys(emails, 0)


def test_the_hasher_of_the_product_is_argon2_within_its_limits():
    from accounts.hashers import BoundedArgon2Hasher

    hasher = BoundedArgon2Hasher()
    assert (hasher.memory_cost, hasher.time_cost, hasher.parallelism) == (19_456, 2, 1)
    encoded = hasher.encode(PASSWORD, hasher.salt())
    assert hasher.verify(PASSWORD, encoded) and not hasher.verify("wrong", encoded)


def test_a_password_is_the_same_however_a_keyboard_spells_its_accents():
    from accounts.hashers import BoundedArgon2Hasher

    hasher = BoundedArgon2Hasher()
    composed, decomposed = "caf\u00e9 lantern 42", "cafe\u0301 lantern 42"
    assert hasher.verify(decomposed, hasher.encode(composed, hasher.salt()))
    assert hasher.verify(composed, hasher.encode(decomposed, hasher.salt()))


def cost_of(anonymous, path, email):
    """What makes an answer slow, counted and not timed: commits, changes, other statements, texts."""
    body = {"password": "wrong", "code": "odd", "new_password": "another horse 9", "email": email}
    with CaptureQueriesContext(connection) as captured:
        anonymous.raw("POST", f"{AUTH}/{path}", body)
    statements = [query["sql"].split()[0] for query in captured]
    changes = sum(verb in ("INSERT", "UPDATE") for verb in statements)
    return {"commits": statements.count("COMMIT"), "changes": changes, "reads": statements.count("SELECT")}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["forgot-password", "resend-otp", "verify", "verify-reset", "login"])
def test_addresses_with_and_without_account_cost_the_same(anonymous, path, monkeypatch, settings):
    """benchmarks/parity.py times the same; this holds what those times are made of."""
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    written = []
    render = emails.render
    monkeypatch.setattr(emails, "render", lambda *args, **kw: (written.append(1), render(*args, **kw))[1])
    verified = path not in ("resend-otp", "verify")
    with_code, without_code = make_user("Ann", verified=verified), make_user("Ben", verified=verified)
    purpose = {"verify": "signup", "verify-reset": "reset"}.get(path)
    if purpose:
        codes.issue(user=with_code, purpose=purpose, address=with_code.email)
    costs = {}
    for kind, email in (
        ("code", with_code.email),
        ("no code", without_code.email),
        ("nobody", "nobody@example.com"),
    ):
        written.clear()
        costs[kind] = cost_of(anonymous, path, email) | {"texts": len(written)}
    of_unknown = costs["nobody"]
    for kind, cost in costs.items():
        assert (cost["commits"], cost["texts"]) == (of_unknown["commits"], of_unknown["texts"]), costs
        # One statement more or less is the price of another table.
        assert abs(cost["changes"] - of_unknown["changes"]) <= 1, (kind, costs)
        assert abs(cost["reads"] - of_unknown["reads"]) <= 1, (kind, costs)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wrong_before", [0, 1, 5])
@pytest.mark.parametrize("way", ["none", "header", "cookie"])
def test_a_device_token_costs_as_much_without_an_account(alice, anonymous, wrong_before, way):
    """Before the first wrong password, after one, and during the wait, in which no hash covers a statement more."""
    body = {"password": "wrong"}
    sent = {"none": {}, "header": {"X-Device-Token": "of-the-attacker"}, "cookie": {"Cookie": "trusted_device=other"}}[
        way
    ]
    counted = {}
    for email in (alice.email, "nobody@example.com"):
        for _ in range(wrong_before):
            anonymous.raw("POST", f"{AUTH}/login", body | {"email": email})
        with CaptureQueriesContext(connection) as captured:
            anonymous.raw("POST", f"{AUTH}/login", body | {"email": email}, headers=sent)
        counted[email] = len(captured)
    assert len(set(counted.values())) == 1, counted


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["forgot-password", "resend-otp"])
def test_a_simulated_mail_leaves_no_row(anonymous, path, settings):
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    with CaptureQueriesContext(connection) as captured:
        assert anonymous.raw("POST", f"{AUTH}/{path}", {"email": "nobody@example.com"}).status_code == 200
    assert any("notifications_delivery" in query["sql"] and "INSERT" in query["sql"] for query in captured)
    assert not Delivery.objects.exists()
