"""Send, list, read: the way of a message."""

import pytest

from messaging.models import Message, Participant
from tests.messaging.conftest import conversation_path, message_path


def send(client, conversation, body="hi", status=201, **more):
    path = conversation_path(conversation, "/messages")
    return client.post(path, {"body": body, **more}, status=status)


def test_a_text_arrives_as_it_was_sent(as_alice, as_bob, alice, conversation):
    sent = send(as_alice, conversation, "  hello  ", client_id="c-1")["message"]
    assert sent == {
        "id": sent["id"],
        "conversation_id": conversation,
        "sender_id": alice.id,
        "kind": "text",
        "body": "hello",
        "media_url": None,
        "media": None,
        "reply_to_id": None,
        "reply_to": None,
        "is_edited": False,
        "edited_at": None,
        "reactions": [],
        "call": None,
        "client_id": "c-1",
        "created_at": sent["created_at"],
    }
    assert sent["created_at"].endswith("Z")
    path = conversation_path(conversation, "/messages")
    assert as_alice.get(path) == {"ok": True, "messages": [sent], "has_more": False}
    assert as_bob.get(path) == {"ok": True, "messages": [sent | {"client_id": None}], "has_more": False}


def test_the_conversation_list_of_both(as_alice, as_bob, alice, bob, conversation):
    message = send(as_alice, conversation)["message"]
    last = {
        "id": message["id"],
        "kind": "text",
        "body": "hi",
        "sender_id": alice.id,
        "call": None,
        "created_at": message["created_at"],
    }
    card = {
        "id": alice.id,
        "username": alice.username,
        "first_name": "Alice",
        "last_name": "Archer",
        "avatar_url": None,
    }
    assert as_bob.get("/api/v1/messages/conversations") == {
        "ok": True,
        "conversations": [
            {
                "id": conversation,
                "other_user": card,
                "last_message": last,
                "unread_count": 1,
                "last_read_id": 0,
                "other_last_read_id": 0,
                "other_delivered_id": 0,
                "is_blocked": False,
            }
        ],
        "has_more": False,
        "next_cursor": None,
    }
    mine = as_alice.get(conversation_path(conversation))["conversation"]
    assert mine["unread_count"] == 0 and mine["other_user"]["id"] == bob.id


def test_reading_moves_the_watermark_and_never_back(as_alice, as_bob, conversation):
    first, second = (send(as_alice, conversation, text)["message"]["id"] for text in ("one", "two"))
    read = conversation_path(conversation, "/read")
    assert as_bob.post(read, {"message_id": first}) == {
        "ok": True,
        "last_read_id": first,
        "unread_count": 1,
        "message_unread_count": 1,
    }
    done = {"ok": True, "last_read_id": second, "unread_count": 0, "message_unread_count": 0}
    assert as_bob.post(read) == done
    assert as_bob.post(read, {"message_id": first}) == done
    assert as_alice.get(conversation_path(conversation))["conversation"]["other_last_read_id"] == second


def test_starting_twice_gives_the_same_conversation(as_alice, as_bob, alice, conversation):
    again = as_bob.post("/api/v1/messages/conversations", {"user_id": alice.id}, status=200)
    assert again["conversation"]["id"] == conversation
    assert Participant.objects.filter(conversation_id=conversation).count() == 2


def test_a_repeated_client_id_gives_the_first_message(as_alice, conversation):
    first = send(as_alice, conversation, "one", client_id="k")["message"]
    assert send(as_alice, conversation, " one ", status=200, client_id="k")["message"] == first
    refused = send(as_alice, conversation, "other", status=409, client_id="k")
    assert refused["error"] == "idempotency_conflict"
    assert Message.objects.count() == 1


@pytest.mark.parametrize("body", ["", "   ", "\u200b\n", "x" * 4097, "a\x00b", "\ud800", 5, None, ["x"]])
def test_a_body_that_is_no_text_is_refused(as_alice, conversation, body):
    refused = send(as_alice, conversation, body, status=400)
    assert refused["error"] == "validation_error"
    assert list(refused["fields"]) == ["body"]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_lines_end_in_one_way(as_alice, conversation, end):
    message = send(as_alice, conversation, f"one{end}two{end}{end}three")["message"]
    assert message["body"] == "one\ntwo\n\nthree"
    edited = as_alice.patch(message_path(message["id"]), {"body": f"four{end}five"})
    assert edited["message"]["body"] == "four\nfive"


def test_the_longest_body(as_alice, conversation):
    body = "🎈" * 4096
    assert send(as_alice, conversation, f"  {body} ")["message"]["body"] == body
