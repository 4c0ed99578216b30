"""Changes of the account status by staff take effect at once, send their signals and add an audit row."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.exceptions import PermissionDenied

from accounts import signals
from accounts.exceptions import EmailTaken, UsernameTaken
from accounts.models import AuditEntry, OneTimeToken, TrustedDevice, User
from accounts.services import account_status, erasure, registration
from accounts.sign_in import trusted_devices
from accounts.text import FOLDED_LENGTH
from core.times import json_time
from tests.client import ApiClient
from tests.factories import PASSWORD, make_user, sign_in

AUTH = "/api/v1/auth"


@pytest.fixture
def received():
    """The signals that were sent, in their order."""
    facts = []

    def recorder(name):
        def listen(sender, signal, **fact):
            facts.append((name, fact))

        return listen

    listeners = {name: recorder(name) for name in ("session_revoked", "account_status_changed", "account_verified")}
    for name, listen in listeners.items():
        getattr(signals, name).connect(listen)
    yield facts
    for name, listen in listeners.items():
        getattr(signals, name).disconnect(listen)


def test_a_block_acts_at_once(alice, bob, received):
    session, token = sign_in(alice)
    _, device_token = trusted_devices.remember_device(user=alice)
    pending = OneTimeToken.objects.issue(kind="two_step", user=alice)
    until = timezone.now() + timedelta(days=1)
    assert account_status.block(user=alice, reason="spam", until=until, actor=bob) == 1
    assert ApiClient(token).get(f"{AUTH}/me", status=403)["error"] == "account_blocked"
    assert TrustedDevice.objects.of(alice, device_token) is None
    assert not OneTimeToken.objects.of(pending, "two_step").is_live()
    assert received == [
        ("session_revoked", {"user_id": alice.id, "session_ids": [session.id], "reason": "blocked"}),
        ("account_status_changed", {"user_id": alice.id, "is_blocked": True}),
    ]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.target, entry.reason) == ("user.blocked", bob, alice, "spam")
    assert entry.details == {"until": json_time(until), "sessions_ended": 1}


def test_what_a_block_ended_stays_ended(alice, anonymous, received):
    _session, token = sign_in(alice)
    account_status.block(user=alice, reason="spam", actor="test")
    for _ in range(2):
        account_status.unblock(user=alice, reason="mistake", actor="test")
    account_status.unlock(user=alice, actor="test")
    assert ApiClient(token).get(f"{AUTH}/me", status=401)["error"] == "token_revoked"
    anonymous.post(f"{AUTH}/login", {"email": alice.email, "password": PASSWORD})
    # Nothing is announced that has not changed.
    assert [fact for name, fact in received if name == "account_status_changed"] == [
        {"user_id": alice.id, "is_blocked": True},
        {"user_id": alice.id, "is_blocked": False},
    ]
    assert list(AuditEntry.objects.order_by("id").values_list("action", "actor_label")) == [
        ("user.blocked", "test"),
        ("user.unblocked", "test"),
        ("user.unblocked", "test"),
        ("user.unlocked", "test"),
    ]


def test_marking_an_address_confirmed(db, received):
    ann = make_user("Ann", verified=False)
    for _ in range(2):
        account_status.mark_verified(user=ann, reason="by phone", actor="test")
    assert ann.has_verified_email
    assert [name for name, _fact in received] == ["account_verified"]
    assert AuditEntry.objects.filter(action="user.verified").count() == 1


def test_createsuperuser(db, anonymous, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", email="Root@Example.com", first_name="Root", interactive=False, verbosity=0)
    body = anonymous.post(f"{AUTH}/login", {"email": "root@example.com", "password": PASSWORD})
    me = ApiClient(body["token"]).get(f"{AUTH}/me")["user"]
    assert (me["is_admin"], me["is_verified"]) == (True, True)
    row = AuditEntry.objects.get()
    assert (row.action, row.target_label) == ("user.added", "root@example.com")
    assert row.actor_label.startswith("cli:")


def test_createsuperuser_refuses_what_is_no_address_in_a_sentence(db, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    with pytest.raises(CommandError, match=r"^root@localhost is not an e-mail address\.$"):
        call_command("createsuperuser", email="root@localhost", first_name="Root", interactive=False, verbosity=0)
    assert not User.objects.exists()


def test_createsuperuser_that_creates_none_leaves_no_audit_row(alice, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    with pytest.raises(CommandError):
        call_command("createsuperuser", email=alice.email, first_name="Alice", interactive=False, verbosity=0)
    assert not AuditEntry.objects.exists()


def test_accounts_by_hand(db, received, mailoutbox):
    ann = registration.create_user(
        email="Ann@Example.com", password=None, first_name="Ann", verified=True, username="ann"
    )
    assert (ann.email, ann.username, ann.has_verified_email, ann.has_usable_password()) == (
        "ann@example.com",
        "ann",
        True,
        False,
    )
    assert [name for name, _fact in received] == ["account_verified"]
    assert not mailoutbox
    with pytest.raises(EmailTaken):
        registration.create_user(email="ann@example.com", password=None, first_name="Ann")
    with pytest.raises(UsernameTaken):
        registration.create_user(email="other@example.com", password=None, first_name="Ann", username="ANN")
    with pytest.raises(ValueError, match="not an address"):
        registration.create_user(email="nonsense", password=None, first_name="Ann")
    assert User.objects.count() == 1


def test_names_that_grow_when_folded_still_fit(db):
    ann = make_user("\ufdfa" * 50, last_name="\ufdfa" * 50, email="ann@example.com", username="ann")
    ann.refresh_from_db()
    assert len(ann.name_folded) == len(ann.family_first_joined) == FOLDED_LENGTH


def test_no_code_is_sent_to_an_address_that_was_confirmed_meanwhile(alice, bob, mailoutbox):
    alice.email_verified_at = None  # as the page has read it
    assert not account_status.send_code_again(user=alice, actor=bob)
    assert not mailoutbox and not AuditEntry.objects.exists()


ERASED_CHANGES = {
    "block": lambda user, by: account_status.block(user=user, reason="spam", actor=by),
    "unblock": lambda user, by: account_status.unblock(user=user, actor=by),
    "unlock": lambda user, by: account_status.unlock(user=user, actor=by),
    "confirm": lambda user, by: account_status.mark_verified(user=user, reason="", actor="cli:root"),
    "send code": lambda user, by: account_status.send_code_again(user=user, actor=by),
    "sign out": lambda user, by: account_status.sign_out_everywhere(user=user, actor=by),
    "reset two-step": lambda user, by: account_status.reset_two_step(user=user, actor=by),
    "erase": lambda user, by: account_status.erase(user=user, actor=by),
}


@pytest.mark.parametrize("change", ERASED_CHANGES.values(), ids=ERASED_CHANGES)
def test_the_status_of_an_erased_account_stays(change, alice, bob, mailoutbox):
    erasure.erase(user_id=alice.id)
    before = User.objects.filter(id=alice.id).values().get()
    with pytest.raises(PermissionDenied, match="already been erased"):
        change(alice, bob)
    assert User.objects.filter(id=alice.id).values().get() == before
    assert not AuditEntry.objects.exists() and not mailoutbox
