"""Messages in the feed: one unread row per conversation, only the number, never the text."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from messaging.services import messages
from notifications.models import Delivery, Notification
from notifications.services import devices, feed
from notifications.signals import notification_changed
from tests.factories import sign_in

pytestmark = pytest.mark.django_db
FEED = "/api/v1/notifications"
CONVERSATIONS = "/api/v1/messages/conversations"


@pytest.fixture
def conversation_id(as_alice, bob):
    """The id of the conversation of Alice and Bob."""
    return as_alice.post(CONVERSATIONS, {"user_id": bob.id}, status=201)["conversation"]["id"]


@pytest.fixture
def send_message(conversation_id):
    def send(client, body="hello there"):
        return client.post(f"{CONVERSATIONS}/{conversation_id}/messages", {"body": body}, status=201)["message"]

    return send


def rows(client):
    return client.get(FEED)["notifications"]


def counts(client):
    body = client.get(f"{FEED}/unread-count")
    return body["unread_count"], body["message_unread_count"]


def test_messages_of_a_conversation_share_a_row_without_their_text(
    as_alice, as_bob, alice, conversation_id, send_message
):
    send_message(as_alice, "a secret")
    first = rows(as_bob)[0]
    send_message(as_alice, "another secret")
    body = as_bob.get(FEED)
    [row] = body["notifications"]
    assert row == {
        "id": first["id"],
        "type": "message",
        "is_read": False,
        "actor": first["actor"],
        "target": {"type": "conversation", "id": conversation_id, "title": "Alice Archer"},
        "count": 2,
        "created_at": row["created_at"],
    }
    assert row["actor"]["id"] == alice.id
    assert row["created_at"] > first["created_at"]
    assert "secret" not in str(body)
    assert counts(as_bob) == (1, 2)
    assert counts(as_alice) == (0, 0)


def test_reading_the_conversation_resolves_its_row(as_alice, as_bob, conversation_id, send_message):
    send_message(as_alice)
    send_message(as_alice)
    as_bob.post(f"{CONVERSATIONS}/{conversation_id}/read", {})
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(True, 2)]
    assert counts(as_bob) == (0, 0)
    send_message(as_alice)
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(False, 1), (True, 2)]


def test_reading_a_part_leaves_the_rest(as_alice, as_bob, conversation_id, send_message):
    send_message(as_alice)
    middle = send_message(as_alice)
    send_message(as_alice)
    as_bob.post(f"{CONVERSATIONS}/{conversation_id}/read", {"message_id": middle["id"]})
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(False, 1)]
    assert counts(as_bob) == (1, 1)


def test_marking_the_feed_read_leaves_the_messages_unread(as_alice, as_bob, conversation_id, send_message):
    old = send_message(as_alice)
    assert as_bob.post(f"{FEED}/read-all") == {
        "ok": True,
        "updated": 1,
        "unread_count": 0,
        "message_unread_count": 1,
    }
    send_message(as_alice)
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(False, 1), (True, 1)]
    as_alice.delete(f"/api/v1/messages/messages/{old['id']}")
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(False, 1), (True, 1)]


def test_a_deleted_message_counts_no_more(as_alice, as_bob, send_message):
    first, second = send_message(as_alice), send_message(as_alice)
    as_alice.delete(f"/api/v1/messages/messages/{first['id']}")
    assert [row["count"] for row in rows(as_bob)] == [1]
    as_alice.delete(f"/api/v1/messages/messages/{second['id']}")
    assert rows(as_bob) == []
    assert counts(as_bob) == (0, 0)


def test_deleting_the_newest_message_restores_the_time_of_the_row(as_alice, as_bob, send_message):
    """What a push said last is compared by number and time: nothing new is nothing to push."""
    first, second = send_message(as_alice), send_message(as_alice)
    before = rows(as_bob)[0]
    as_alice.delete(f"/api/v1/messages/messages/{second['id']}")
    after = rows(as_bob)[0]
    assert (before["created_at"], after["created_at"]) == (second["created_at"], first["created_at"])
    assert (before["count"], after["count"]) == (2, 1)


def test_clearing_the_conversation_resolves_its_row(as_alice, as_bob, conversation_id, send_message):
    first = send_message(as_alice)
    send_message(as_alice)
    as_bob.post(f"{CONVERSATIONS}/{conversation_id}/clear", {"message_id": first["id"]})
    assert [(row["is_read"], row["count"]) for row in rows(as_bob)] == [(False, 1)]
    as_bob.post(f"{CONVERSATIONS}/{conversation_id}/clear", {})
    assert [row["is_read"] for row in rows(as_bob)] == [True]
    assert counts(as_bob) == (0, 0)


@pytest.mark.parametrize("switch", ["messages", "enabled"])
def test_a_switch_off_means_no_row_but_the_messages_are_there(as_alice, as_bob, send_message, switch):
    as_bob.patch(f"{FEED}/preferences", {switch: False})
    send_message(as_alice)
    assert rows(as_bob) == []
    assert counts(as_bob) == (0, 1)


def test_a_row_stays_open_for_messages_however_old_it_is(as_alice, as_bob, send_message):
    send_message(as_alice)
    Notification.objects.update(first_at=timezone.now() - timedelta(days=30))
    send_message(as_alice)
    assert [row["count"] for row in rows(as_bob)] == [2]


def test_a_block_takes_the_row_away(as_alice, as_bob, alice, send_message):
    send_message(as_alice)
    as_bob.post("/api/v1/profile/blocks", {"user_id": alice.id})
    assert rows(as_bob) == []
    assert counts(as_bob)[0] == 0


def test_a_blocked_account_gets_no_row(alice, bob, conversation_id):
    bob.blocked_at = timezone.now()
    bob.save()
    feed.message_arrived(
        recipient_id=bob.id, sender_id=alice.id, conversation_id=conversation_id, message_id=1, at=timezone.now()
    )
    assert not Notification.objects.exists()


def test_a_line_of_a_call_counts_only_when_it_was_missed(alice, bob, as_bob, conversation_id):
    for number, counts_as_unread in enumerate((False, True), start=1):
        messages.send_call_message(
            conversation_id=conversation_id,
            caller_id=alice.id,
            call_id=number,
            media="audio",
            outcome="missed" if counts_as_unread else "completed",
            duration_s=None,
            counts_as_unread=counts_as_unread,
        )
        assert len(rows(as_bob)) == number - 1
    assert counts(as_bob) == (1, 1)


@pytest.mark.parametrize(("quiet", "statements"), [(False, 2), (True, 1)])
def test_a_message_costs_one_statement_and_one_more_for_its_pushes(
    as_bob, alice, bob, conversation_id, quiet, statements
):
    session, _ = sign_in(bob)
    for number in range(3):
        devices.register(user_id=bob.id, session_id=session.id, token=f"token-{number}")
    as_bob.patch(f"{FEED}/preferences", {"quiet_mode": quiet})
    for message_id in (1, 2):
        with CaptureQueriesContext(connection) as captured:
            feed.message_arrived(
                recipient_id=bob.id,
                sender_id=alice.id,
                conversation_id=conversation_id,
                message_id=message_id,
                at=timezone.now(),
            )
        mine = [
            query["sql"] for query in captured if "notifications_" in query["sql"] and "SAVEPOINT" not in query["sql"]
        ]
        assert len(mine) == statements, mine
    assert Delivery.objects.count() == (0 if quiet else 3)


def test_every_change_is_sent_to_its_owner_only(as_alice, as_bob, alice, bob, conversation_id, send_message):
    received = []

    def hear(sender, recipient_id, notification_id, silent, **_):
        received.append((recipient_id, silent))

    notification_changed.connect(hear, weak=False)
    try:
        message = send_message(as_alice)
        send_message(as_alice)
        as_alice.delete(f"/api/v1/messages/messages/{message['id']}")
        as_bob.post(f"{CONVERSATIONS}/{conversation_id}/read", {})
        as_bob.post(f"{CONVERSATIONS}/{conversation_id}/read", {})
    finally:
        notification_changed.disconnect(hear)
    assert received == [(bob.id, False), (bob.id, False), (bob.id, True), (bob.id, True)]
