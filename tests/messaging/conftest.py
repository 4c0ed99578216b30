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
