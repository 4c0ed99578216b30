"""An opened conversation is invisible to the other participant until its first message."""

import pytest

from messaging import export
from messaging.services import messages
from realtime.models import Event


@pytest.fixture
def opened(as_alice, bob) -> int:
    return as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)["conversation"]["id"]


def listed(client) -> list[int]:
    return [row["id"] for row in client.get("/api/v1/messages/conversations")["conversations"]]


def events_of(user) -> list[str]:
    return list(Event.objects.filter(user=user).order_by("seq").values_list("type", flat=True))


def test_the_starter_sees_it_and_the_other_participant_does_not(opened, as_alice, as_bob, alice, bob):
    assert listed(as_alice) == [opened] and listed(as_bob) == []
    assert events_of(alice) == ["conversation.created"] and events_of(bob) == []


def test_the_first_sender_sees_it(opened, as_alice, as_bob, alice, bob):
    as_bob.post(f"/api/v1/messages/conversations/{opened}/messages", {"body": "hi"}, status=201)
    assert listed(as_bob) == listed(as_alice) == [opened]
    assert events_of(bob) == ["conversation.created", "message.new"]
    assert events_of(alice)[:2] == ["conversation.created", "message.new"]


def test_the_first_message_shows_it(opened, as_alice, as_bob, alice, bob):
    for text in ("one", "two"):
        as_alice.post(f"/api/v1/messages/conversations/{opened}/messages", {"body": text}, status=201)
    assert listed(as_bob) == [opened]
    assert events_of(bob)[:2] == ["conversation.created", "message.new"]
    assert events_of(bob).count("conversation.created") == 1
    assert events_of(alice).count("conversation.created") == 1


def test_the_other_participant_sees_it_by_opening_it_too(opened, as_alice, as_bob, alice, bob):
    body = as_bob.post("/api/v1/messages/conversations", {"user_id": alice.id}, status=200)
    assert body["conversation"]["id"] == opened
    assert listed(as_bob) == [opened]
    as_bob.post("/api/v1/messages/conversations", {"user_id": alice.id}, status=200)
    assert events_of(bob) == ["conversation.created"]


def test_it_stays_visible_when_its_messages_are_gone(opened, as_alice, as_bob, alice):
    message, _ = messages.send(sender=alice, conversation_id=opened, body="hi")
    as_alice.delete(f"/api/v1/messages/messages/{message.id}")
    assert listed(as_bob) == [opened]


def test_an_export_holds_what_a_person_sees(opened, alice, bob):
    assert any(name.startswith(f"conversation-{opened}/") for name, _ in export.export_files(alice.id))
    assert not any(name.startswith(f"conversation-{opened}/") for name, _ in export.export_files(bob.id))
