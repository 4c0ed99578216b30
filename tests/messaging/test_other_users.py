"""Another user gets for an existing id the same reply as for a missing one."""

import json
from urllib.parse import quote

import pytest

from tests.messaging.conftest import conversation_path, message_path
from tests.messaging.test_permissions import picture

ODD_IDS = [
    "0", "-1", "1.5", "abc", "９", "1e3", " 1", "+1", "01", "9223372036854775808", "1" * 40,
    "null", "true", "1\x00", "%", "..", "1;2", "１", "0x1", "١",
]  # fmt: skip
ABSENT = str(2**62)


def routes(conversation_id, message_id):
    c, m = (lambda rest="": conversation_path(conversation_id, rest)), (lambda rest="": message_path(message_id, rest))
    return [
        ("conversation", "GET", c(), None),
        ("conversation", "GET", c("/messages"), None),
        ("conversation", "POST", c("/messages"), {"body": "x"}),
        ("conversation", "POST", c("/media"), picture),
        ("conversation", "POST", c("/read"), {}),
        ("conversation", "POST", c("/clear"), {}),
        ("conversation", "GET", c("/search?q=hi"), None),
        ("message", "PATCH", m(), {"body": "x"}),
        ("message", "DELETE", m(), None),
        ("message", "POST", m("/reactions"), {"emoji": "👍"}),
        ("message", "DELETE", m("/reactions"), {"emoji": "👍"}),
        ("message", "POST", m("/report"), {"reason": "spam"}),
    ]


def answer(client, method, path, body):
    """Status and body without what differs from request to request."""
    if callable(body):
        return 404, _known(client.upload(path, status=404, file=body()))
    response = client.raw(method, path, body)
    return response.status_code, _known(json.loads(response.content))


def _known(body):
    return {name: value for name, value in body.items() if name != "request_id"}


def test_another_user_learns_nothing_from_any_route(as_charlie, conversation, as_alice, send_message):
    sent = send_message(as_alice)
    there = routes(conversation, sent["id"])
    absent = routes(ABSENT, ABSENT)
    for (kind, method, path, body), (_, _, nowhere, _) in zip(there, absent, strict=True):
        expected = 404, {"ok": False, "error": f"{kind}_not_found", "message": f"This {kind} doesn't exist."}
        assert answer(as_charlie, method, path, body) == expected, path
        assert answer(as_charlie, method, nowhere, body) == expected, nowhere
        assert answer(as_alice, method, nowhere, body) == expected, nowhere


@pytest.mark.parametrize("odd", ODD_IDS)
def test_an_id_that_is_none_is_not_found(as_alice, conversation, odd):
    for kind, method, path, body in routes(quote(odd, safe=""), quote(odd, safe="")):
        expected = 404, {"ok": False, "error": f"{kind}_not_found", "message": f"This {kind} doesn't exist."}
        assert answer(as_alice, method, path, body) == expected, path


def test_ids_inside_bodies_of_others_are_not_found(as_alice, as_charlie, alice, conversation, send_message):
    foreign = send_message(as_alice)["id"]
    mine = as_charlie.post("/api/v1/messages/conversations", {"user_id": alice.id}, status=201)["conversation"]["id"]
    replies = []
    for message_id in (foreign, 2**62):
        path = conversation_path(mine, "/messages")
        replies += [
            as_charlie.post(path, {"body": "x", "reply_to_id": message_id}, status=404),
            as_charlie.post(conversation_path(mine, "/read"), {"message_id": message_id}, status=404),
            as_charlie.post(conversation_path(mine, "/clear"), {"message_id": message_id}, status=404),
        ]
    bodies = {json.dumps(_known(reply), sort_keys=True) for reply in replies}
    assert len(bodies) == 1 and replies[0]["error"] == "message_not_found"


def test_the_list_of_another_user_stays_empty(as_charlie, as_alice, conversation, send_message):
    send_message(as_alice)
    assert as_charlie.get("/api/v1/messages/conversations")["conversations"] == []


@pytest.mark.parametrize("name", ["id", "sender_id", "kind", "created_at", "edited_at", "deleted_at", "reactions",
                                  "media_url", "counts_as_unread", "conversation_id", "call", "is_edited"])  # fmt: skip
def test_fields_that_are_not_for_writing_are_ignored(as_alice, alice, bob, conversation, send_message, name):
    sent = send_message(as_alice, "hi", **{name: bob.id})
    assert (sent["sender_id"], sent["conversation_id"], sent["kind"]) == (alice.id, conversation, "text")
    assert (sent["reactions"], sent["is_edited"], sent["call"], sent["media_url"]) == ([], False, None, None)
