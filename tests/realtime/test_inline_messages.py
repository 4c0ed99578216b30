"""A new message that comes with the wake-up: sent without a query, and never in a state that has passed."""

import pytest

from core.database.transactions import unit_of_work
from messaging.services import conversations, messages, reactions
from realtime import selectors, wakeups
from realtime.consumers.hub import Hub
from realtime.consumers.log_reader import LogReader
from realtime.receivers import INLINE_CHARACTERS
from tests.factories import sign_in


@pytest.fixture
def chat(alice, bob, transactional_db):
    chat = conversations.start(starter=alice, user_id=bob.id)[0].id
    # The conversation is in both lists, so that a message is one event for each.
    messages.send(sender=alice, conversation_id=chat, body="first")
    return chat


@pytest.fixture
def queries(monkeypatch):
    """The ids of messages that sockets have read from the database."""
    read = []
    original = selectors.messaging.messages_for_each

    def recorded(viewer_ids, ids):
        if ids:
            read.extend(sorted(ids))
        return original(viewer_ids, ids)

    monkeypatch.setattr(selectors.messaging, "messages_for_each", recorded)
    return read


def changes_since(client, ready):
    return client.get(f"/api/v1/realtime/changes?epoch={ready['epoch']}&since={ready['seq']}")["events"]


def next_event(socket):
    while "seq" not in (frame := socket.read()):
        pass
    return frame


@pytest.mark.parametrize("length", [2, INLINE_CHARACTERS])
def test_a_new_message_is_sent_without_a_query(open_socket, as_alice, as_bob, alice, bob, chat, queries, length):
    messages.send(sender=bob, conversation_id=chat, body="unread by Alice")
    alices, bobs = open_socket(as_alice.token), open_socket(as_bob.token)
    path = f"/api/v1/messages/conversations/{chat}/messages"
    sent = as_alice.post(path, {"body": "日" * length, "client_id": "k"}, status=201)["message"]
    events = [socket.expect("message.new") for socket in (alices, bobs)]
    assert queries == []
    # What a query reads is the same, for the sender and for the recipient.
    assert events == [changes_since(as_alice, alices.ready)[0], changes_since(as_bob, bobs.ready)[0]]
    assert events[0]["data"] == {"conversation_id": chat, "message": sent, "unread_count": 1}
    assert events[1]["data"] == {
        "conversation_id": chat,
        "message": {**sent, "client_id": None},
        "unread_count": 2,
    }


def test_a_long_text_is_read_by_the_socket(open_socket, alice, bob, chat, queries):
    bobs = open_socket(sign_in(bob)[1])
    sent, _ = messages.send(sender=alice, conversation_id=chat, body="a" * (INLINE_CHARACTERS + 1))
    assert bobs.expect("message.new")["data"]["message"]["body"] == sent.body
    assert queries == [sent.id]


def test_a_wake_up_with_the_longest_text_is_below_8_kib(alice, bob, chat, settings, monkeypatch):
    published = []
    monkeypatch.setattr(wakeups, "publish", published.extend)
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:1"], "prefix": "size"},
        }
    }
    messages.send(sender=alice, conversation_id=chat, body="𝔘" * INLINE_CHARACTERS, client_id="k" * 64)
    sizes = [len(wakeups.published_form(message)[1]) for message in published if "copy" in message]
    assert len(sizes) == 2
    assert 4 * INLINE_CHARACTERS < min(sizes) <= max(sizes) < 8 * 1024


def test_a_reply_shows_no_message_that_its_recipient_has_cleared(open_socket, as_alice, as_bob, alice, bob, chat):
    original, _ = messages.send(sender=alice, conversation_id=chat, body="cleared by Bob")
    conversations.clear(user_id=bob.id, conversation_id=chat, message_id=original.id)
    alices, bobs = open_socket(as_alice.token), open_socket(as_bob.token)
    messages.send(sender=alice, conversation_id=chat, body="reply", reply_to_id=original.id)
    assert alices.expect("message.new")["data"]["message"]["reply_to"]["body"] == "cleared by Bob"
    received = bobs.expect("message.new")
    assert received["data"]["message"]["reply_to"] is None
    assert received == changes_since(as_bob, bobs.ready)[0]


def test_a_message_that_is_deleted_before_it_is_sent_comes_as_deleted(open_socket, alice, bob, chat, monkeypatch):
    bobs = open_socket(sign_in(bob)[1])
    woken = []
    monkeypatch.setattr(wakeups, "publish", woken.extend)
    deleted, _ = messages.send(sender=alice, conversation_id=chat, body="erased text")
    messages.delete(user=alice, message_id=deleted.id)
    # Both wake-ups arrive before the socket sends anything.
    # Event loops of earlier tests may still be listed.
    for loop, deliver in [(loop, deliver) for loop, deliver in wakeups._hubs.items() if not loop.is_closed()]:
        loop.call_soon_threadsafe(lambda deliver=deliver: [deliver(message) for message in woken])
    assert [bobs.expect("message.deleted")["data"]["message_id"] for _ in range(2)] == [deleted.id] * 2
    assert "erased text" not in str(bobs.frames)


def test_a_message_that_changes_while_the_window_is_full_has_its_current_state(open_socket, alice, bob, chat, settings):
    settings.REALTIME_WINDOW_EVENTS = 1
    bobs = open_socket(sign_in(bob)[1], acks=False)
    messages.send(sender=alice, conversation_id=chat, body="fills the window")
    filled = bobs.expect("message.new")
    deleted, _ = messages.send(sender=alice, conversation_id=chat, body="erased text")
    liked, _ = messages.send(sender=alice, conversation_id=chat, body="liked")
    messages.delete(user=alice, message_id=deleted.id)
    reactions.add(user=bob, message_id=liked.id, emoji="👍")
    frames = [filled]
    while frames[-1]["type"] != "message.reactions":
        bobs.send("ack", {"seq": frames[-1]["seq"]})
        frames.append(next_event(bobs))
        assert len(frames) < 20
    frames = [frame for frame in frames[1:] if frame["type"].startswith("message.")]
    assert [frame["type"] for frame in frames] == [
        "message.deleted", "message.new", "message.deleted", "message.reactions",
    ]  # fmt: skip
    assert "erased text" not in str(frames)
    assert len(frames[1]["data"]["message"]["reactions"]) == 1


def test_reactions_come_with_what_their_reader_has_left_unread(open_socket, alice, bob, chat):
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1])
    message, _ = messages.send(sender=alice, conversation_id=chat, body="unread")
    unread = bobs.expect("message.new")["data"]["unread_count"]
    reactions.add(user=bob, message_id=message.id, emoji="👍")
    assert bobs.expect("message.reactions")["data"]["unread_count"] == unread > 0
    assert alices.expect("message.reactions")["data"]["unread_count"] == 0


@pytest.mark.parametrize("resumes", [False, True])
def test_what_waited_is_read_anew(open_socket, alice, bob, chat, settings, monkeypatch, resumes):
    # The message and the row of the feed fill the window.
    settings.REALTIME_WINDOW_EVENTS = 2
    bobs = open_socket(sign_in(bob)[1], acks=False)
    messages.send(sender=alice, conversation_id=chat, body="fills the window")
    bobs.expect("message.new")
    filled = bobs.expect("notification.new")
    deleted, _ = messages.send(sender=alice, conversation_id=chat, body="erased text")
    bobs.silence(0.3)
    # The wake-up of the deletion is lost.
    monkeypatch.setattr(wakeups, "publish", list)
    messages.delete(user=alice, message_id=deleted.id)
    if resumes:
        bobs.send("resume", {"epoch": bobs.ready["epoch"], "seq": filled["seq"]})
        frames = [next_event(bobs)]
    else:
        frames = [filled]
    while frames[-1]["data"].get("message_id") != deleted.id:
        bobs.send("ack", {"seq": frames[-1]["seq"]})
        frames.append(next_event(bobs))
        assert len(frames) < 20
    assert frames[-1]["type"] == "message.deleted"
    assert "erased text" not in str(bobs.frames)


def test_a_message_that_changes_in_its_own_transaction_is_read(open_socket, alice, bob, chat):
    bobs = open_socket(sign_in(bob)[1])
    with unit_of_work():
        deleted, _ = messages.send(sender=alice, conversation_id=chat, body="erased text")
        messages.delete(user=alice, message_id=deleted.id)
    assert [bobs.expect("message.deleted")["data"]["message_id"] for _ in range(2)] == [deleted.id] * 2
    assert "erased text" not in str(bobs.frames)


def test_a_copy_is_kept_until_the_position_changes_only():
    event = [5, "message.new", 1, 1, None, "2026-01-01T00:00:00+00:00"]
    reader = LogReader(None, None, lambda: None)
    for forget in (lambda: reader.start_at(4), lambda: reader.advance_head(6, [], None)):
        reader.start_at(4)
        reader.advance_head(5, [event], [5, {"body": "text"}, 1])
        assert reader._copy is not None
        forget()
        assert reader._copy is None


async def test_a_socket_that_fails_does_not_keep_messages_from_others(caplog):
    class Socket:
        def __init__(self, error=None):
            self.error = error
            self.received = []

        def on_message(self, message):
            if self.error:
                raise self.error
            self.received.append(message)

    hub, failing, other = Hub(), Socket(ValueError("an unknown form")), Socket()
    hub.sockets = {7: {failing, other}}
    hub.deliver({"type": "new_events", "user_id": 7, "seq": 1})
    assert len(other.received) == 1
    assert "could not take a new_events" in caplog.text
