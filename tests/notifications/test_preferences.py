"""Six switches, and what each one silences."""

from itertools import product

import pytest
from django.utils import timezone

from accounts.services import registration
from notifications.models import Notification, Preferences
from notifications.selectors import quiet_ids
from notifications.services import feed, social
from notifications.signals import notification_changed
from tests.client import ApiClient
from tests.factories import make_user, sign_in

pytestmark = pytest.mark.django_db

URL = "/api/v1/notifications/preferences"
DEFAULTS = {
    "enabled": True,
    "quiet_mode": False,
    "likes": True,
    "comments": True,
    "follows": True,
    "messages": True,
}


def test_everything_is_on_and_nothing_quiet_at_first(as_alice):
    assert as_alice.get(URL) == {"ok": True, "preferences": DEFAULTS}


def test_put_takes_all_six_and_unknown_keys_are_ignored(as_alice, as_bob):
    choices = {name: not value for name, value in DEFAULTS.items()}
    assert as_alice.put(URL, choices | {"colour": "red"}) == {"ok": True, "preferences": choices}
    assert as_alice.get(URL)["preferences"] == choices
    assert as_bob.get(URL)["preferences"] == DEFAULTS


@pytest.mark.django_db(transaction=True)
def test_an_account_that_was_removed_just_now_keeps_none(monkeypatch):
    client = ApiClient(sign_in(make_user(verified=False))[1])
    change = feed.change_preferences

    def later(**values):
        assert registration.purge_unconfirmed(created_before=timezone.now(), batch=9) == 1
        return change(**values)

    monkeypatch.setattr(feed, "change_preferences", later)
    assert client.patch(URL, {"likes": False}, status=401)["error"] == "token_revoked"


def test_patch_takes_a_part(as_alice):
    assert as_alice.patch(URL, {"likes": False})["preferences"] == DEFAULTS | {"likes": False}
    assert as_alice.patch(URL, {})["preferences"] == DEFAULTS | {"likes": False}


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("value", ["false", "true", 0, 1, None, 1.0, [], {}, "missing"])
def test_only_real_booleans_and_all_of_them(as_alice, name, value):
    body = dict(DEFAULTS)
    if value == "missing":
        del body[name]
    else:
        body[name] = value
        refused = as_alice.patch(URL, {name: value}, status=400)
        assert list(refused["fields"]) == [name]
    refused = as_alice.put(URL, body, status=400)
    assert refused["error"] == "validation_error"
    assert list(refused["fields"]) == [name]
    assert as_alice.get(URL)["preferences"] == DEFAULTS


def test_an_empty_put_names_all_six(as_alice):
    assert set(as_alice.put(URL, {}, status=400)["fields"]) == set(DEFAULTS)
    for form in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert set(as_alice.raw("PUT", URL, b"", content_type=form).json()["fields"]) == set(DEFAULTS)


@pytest.mark.parametrize(
    ("switch", "kind"),
    [
        ("likes", "post_like"),
        ("comments", "comment"),
        ("comments", "reply"),
        ("follows", "follow"),
        ("follows", "follow_approved"),
        ("enabled", "post_like"),
        ("enabled", "comment"),
        ("enabled", "follow"),
    ],
)
def test_a_switch_that_is_off_leaves_no_row(as_alice, alice, bob, switch, kind):
    as_alice.patch(URL, {switch: False})
    outcome = social.notify(kind=kind, recipient_id=alice.id, actor_id=bob.id, target_id=7)
    assert outcome == "suppressed:preference"
    assert not Notification.objects.exists()


@pytest.fixture
def changes():
    """What the signal said, while the test runs."""
    received = []

    def hear(sender, recipient_id, notification_id, silent, **_):
        received.append((recipient_id, silent))

    notification_changed.connect(hear, weak=False)
    yield received
    notification_changed.disconnect(hear)


@pytest.mark.parametrize("switch", ["follows", "enabled"])
def test_a_follow_request_wants_an_answer_and_is_stored_silently(as_alice, alice, bob, switch, changes):
    as_alice.patch(URL, {switch: False})
    assert social.notify(kind="follow_request", recipient_id=alice.id, actor_id=bob.id) == "created"
    assert as_alice.get("/api/v1/notifications")["unread_count"] == 1
    assert changes == [(alice.id, True)]


def test_quiet_mode_keeps_rows_and_counts_but_makes_no_sound(as_alice, alice, bob, like, changes):
    like(bob, alice, 7)
    as_alice.patch(URL, {"quiet_mode": True})
    assert like(bob, alice, 8) == "created"
    assert as_alice.get("/api/v1/notifications")["unread_count"] == 2
    assert changes == [(alice.id, False), (alice.id, True)]


@pytest.mark.parametrize(
    ("choice", "quiet"),
    [({}, False), ({"quiet_mode": True}, True), ({"enabled": False}, True), ({"likes": False}, False)],
)
def test_calls_are_quiet_in_quiet_mode_and_when_all_is_off(as_alice, alice, choice, quiet):
    as_alice.patch(URL, choice)
    assert quiet_ids([alice.id]) == ({alice.id} if quiet else set())


@pytest.mark.parametrize("choices", [None, *product((True, False), repeat=3)])
def test_the_statement_for_messages_says_what_the_rule_says(alice, bob, changes, choices):
    rule = Preferences()
    if choices is not None:
        rule = Preferences.objects.create(
            user=alice, **dict(zip(("enabled", "messages", "quiet_mode"), choices, strict=True))
        )
    feed.message_arrived(recipient_id=alice.id, sender_id=bob.id, conversation_id=1, message_id=1, at=timezone.now())
    assert Notification.objects.filter(recipient=alice).exists() is rule.wants("messages")
    assert changes == ([(alice.id, rule.is_silent("messages"))] if rule.wants("messages") else [])
