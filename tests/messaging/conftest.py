"""A conversation of Alice and Bob, and the paths of the API."""

import pytest

API = "/api/v1/messages"


def conversation_path(conversation_id, rest=""):
    return f"{API}/conversations/{conversation_id}{rest}"


def message_path(message_id, rest=""):
    return f"{API}/messages/{message_id}{rest}"


@pytest.fixture
def conversation(as_alice, bob):
    """The id of the conversation that Alice started with Bob."""
    return as_alice.post(f"{API}/conversations", {"user_id": bob.id}, status=201)["conversation"]["id"]


@pytest.fixture
def send_message(conversation):
    """send_message(client, "hi") sends a text into the conversation and returns the message."""

    def send(client, body="hi", status=201, **more):
        path = conversation_path(conversation, "/messages")
        reply = client.post(path, {"body": body, **more}, status=status)
        return reply["message"] if reply["ok"] else reply

    return send


@pytest.fixture
def thread(conversation):
    """thread(client) lists the newest messages as that person sees them."""

    def read(client, query=""):
        return client.get(conversation_path(conversation, f"/messages{query}"))

    return read
