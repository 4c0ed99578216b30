"""Sign in, hear what happens, say something, come back."""

import pytest

from messaging.services import conversations, messages
from tests.factories import sign_in


@pytest.fixture
def token_of(transactional_db):
    return lambda user: sign_in(user)[1]


@pytest.fixture
def conversation(alice, bob):
    return conversations.start(starter=alice, user_id=bob.id)[0]["id"]


def say(sender, conversation_id, body, **fields):
    return messages.send(sender=sender, conversation_id=conversation_id, body=body, **fields)[0]


def test_a_message_reaches_both_sides_devices(open_socket, token_of, alice, bob, conversation):
    alices, bobs = open_socket(token_of(alice)), open_socket(token_of(bob), by_header=True)
    assert set(alices.ready) == {"user_id", "epoch", "seq", "min_seq", "ping_s", "window", "calls"}
    assert alices.ready["user_id"] == alice.id
    reply = alices.command("message.send", conversation_id=conversation, body="hi", client_id="8f0c")
    assert (reply["ok"], set(reply["data"])) == (True, {"message"})
    message = reply["data"]["message"]
    assert (message["body"], message["client_id"]) == ("hi", "8f0c")
    heard = bobs.expect("message.new")
    assert heard["seq"] == bobs.ready["seq"] + 1
    assert heard["data"]["message"] == message | {"client_id": None}
    assert (heard["data"]["conversation_id"], heard["data"]["unread_count"]) == (conversation, 1)
    assert bobs.expect("badge")["data"]["message_unread_count"] == 1
    own = alices.expect("message.new")
    assert (own["data"]["message"], own["data"]["unread_count"]) == (message, 0)
    read = bobs.command("conversation.read", conversation_id=conversation)
    assert read["data"] == {"last_read_id": message["id"], "unread_count": 0, "message_unread_count": 0}
    assert alices.expect("conversation.read")["data"]["last_read_id"] == message["id"]
    assert bobs.expect("conversation.read", user_id=bob.id)["data"]["unread_count"] == 0
