"""Each change says what happened, once, inside its transaction; what changes nothing says nothing."""

import pytest
from django.db import connection

from accounts.models import Session, User
from messaging import signals
from messaging.serializers import MessageOutput
from messaging.services import conversations, messages
from tests.messaging.conftest import API, conversation_path, message_path

FACTS = [
    "conversation_started", "message_sent", "message_edited", "message_deleted", "reactions_changed",
    "conversation_read", "conversation_cleared", "conversation_delivered",
]  # fmt: skip


@pytest.fixture
def received(conversation):
    """What is said while the test runs: (name, arguments)."""
    received_signals = []

    def listener(name):
        def hear(sender, signal, **arguments):
            assert connection.in_atomic_block
            row = arguments.get("conversation")
            if row is not None:
                assert row.user_low_id < row.user_high_id
                arguments["conversation"] = row.id
            if "seen_by" in arguments:
                arguments["seen_by"] = {user_id: seen.unread_count for user_id, seen in arguments["seen_by"].items()}
            received_signals.append((name, {k: getattr(v, "id", v) for k, v in arguments.items()}))

        return hear

    listeners = {name: listener(name) for name in FACTS}
    for name, hear in listeners.items():
        getattr(signals, name).connect(hear, weak=False)
    yield received_signals
    for name, hear in listeners.items():
        getattr(signals, name).disconnect(hear)


def test_a_start_is_announced_once(as_alice, as_charlie, alice, charlie, received):
    made = as_alice.post(f"{API}/conversations", {"user_id": charlie.id}, status=201)["conversation"]["id"]
    as_charlie.post(f"{API}/conversations", {"user_id": alice.id}, status=200)
    assert received == [("conversation_started", {"conversation": made, "starter_id": alice.id})]


def test_each_change_of_a_message_sends_its_signal(as_alice, as_bob, alice, bob, conversation, send_message, received):
    sent = send_message(as_alice, "one", client_id="k")["id"]
    send_message(as_alice, "one", status=200, client_id="k")
    path = message_path(sent)
    as_alice.patch(path, {"body": "two"})
    as_alice.patch(path, {"body": "two"})
    for _ in range(2):
        as_bob.post(message_path(sent, "/reactions"), {"emoji": "👍"})
    for _ in range(2):
        as_bob.delete(message_path(sent, "/reactions"), {"emoji": "👍"})
    for _ in range(2):
        as_bob.post(conversation_path(conversation, "/read"))
    for _ in range(2):
        as_bob.post(conversation_path(conversation, "/clear"))
    as_alice.delete(path)
    as_alice.delete(path, status=404)
    session_id = Session.objects.get(user=bob).id
    reacted = ("reactions_changed", {"message_id": sent, "conversation": conversation, "actor_id": bob.id})
    assert received == [
        (
            "message_sent",
            {
                "message": sent,
                "conversation": conversation,
                "recipient_id": bob.id,
                "seen_by": {alice.id: 0, bob.id: 1},
            },
        ),
        ("message_edited", {"message": sent, "conversation": conversation}),
        reacted,
        reacted,
        (
            "conversation_read",
            {
                "conversation": conversation,
                "reader_id": bob.id,
                "last_read_id": sent,
                "unread_count": 0,
                "session_id": session_id,
            },
        ),
        (
            "conversation_cleared",
            {"conversation": conversation, "user_id": bob.id, "cleared_up_to_id": sent, "session_id": session_id},
        ),
        ("message_deleted", {"message": sent, "conversation": conversation, "was_unread": False}),
    ]


def test_deleting_what_was_not_read_says_so(as_alice, send_message, received):
    as_alice.delete(message_path(send_message(as_alice)["id"]))
    assert received[-1][1]["was_unread"] is True


def test_a_refused_request_says_nothing(as_alice, as_bob, send_message, received):
    sent = send_message(as_alice)["id"]
    received.clear()
    as_bob.patch(message_path(sent), {"body": "x"}, status=403)
    as_bob.post(message_path(sent, "/reactions"), {"emoji": "x"}, status=400)
    send_message(as_bob, "", status=400)
    send_message(as_bob, "x", status=404, reply_to_id=10**12)
    assert received == []


def call(conversation, caller, call_id=1, **more):
    values = {"media": "audio", "outcome": "missed", "duration_s": None, "counts_as_unread": True} | more
    row = messages.send_call_message(conversation_id=conversation, caller_id=caller.id, call_id=call_id, **values)
    return MessageOutput.render(row, caller.id)


def test_a_call_leaves_one_message(as_bob, alice, bob, conversation, thread, received):
    made = call(conversation, alice)
    assert call(conversation, alice) == made
    assert [name for name, _ in received] == ["message_sent"]
    listed = thread(as_bob)["messages"]
    assert listed == [made]
    assert (made["kind"], made["body"], made["sender_id"]) == ("call", "Missed voice call", alice.id)
    assert made["call"] == {"id": 1, "media": "audio", "outcome": "missed", "duration_s": None}
    assert as_bob.get(conversation_path(conversation))["conversation"]["unread_count"] == 1


def test_a_call_that_was_answered_is_not_unread(as_alice, as_bob, alice, conversation):
    made = call(conversation, alice, media="video", outcome="completed", duration_s=42, counts_as_unread=False)
    assert (made["body"], made["call"]["duration_s"]) == ("Video call", 42)
    for client in (as_alice, as_bob):
        assert client.get(conversation_path(conversation))["conversation"]["unread_count"] == 0
    refused = as_alice.patch(message_path(made["id"]), {"body": "x"}, status=400)
    assert list(refused["fields"]) == ["body"]


def test_a_call_is_no_writing(as_alice, as_bob, alice, bob, conversation, send_message):
    call(conversation, bob)
    User.objects.filter(id=bob.id).update(who_can_message="contacts")
    assert send_message(as_alice, status=403)["error"] == "message_permission_denied"


def test_delivered_moves_forward_and_no_further_than_there_is(
    as_alice, as_bob, alice, bob, conversation, send_message, received
):
    first, second = send_message(as_alice, "1")["id"], send_message(as_alice, "2")["id"]
    received.clear()

    def delivered(upto):
        return conversations.mark_delivered(user_id=bob.id, delivered={conversation: upto, 10**12: 5})

    assert delivered(first) == {conversation: first}
    assert delivered(first) == {}
    assert delivered(10**15) == {conversation: second}
    assert delivered(first) == {}
    assert [name for name, _ in received] == ["conversation_delivered"] * 2
    assert as_alice.get(conversation_path(conversation))["conversation"]["other_delivered_id"] == second
    assert as_bob.get(conversation_path(conversation))["conversation"]["other_delivered_id"] == 0


def test_what_is_read_is_delivered_but_hidden_receipts_hide_that(as_alice, as_bob, bob, conversation, send_message):
    first = send_message(as_alice, "1")["id"]
    send_message(as_alice, "2")
    as_bob.post(f"{conversation_path(conversation)}/read", {"message_id": first})

    def seen():
        shown = as_alice.get(conversation_path(conversation))["conversation"]
        return shown["other_last_read_id"], shown["other_delivered_id"]

    assert seen() == (first, first)
    User.objects.filter(id=bob.id).update(read_receipts=False)
    assert seen() == (None, 0)
