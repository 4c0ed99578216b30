"""Edit, delete, clear."""

import pytest

from messaging.models import Message, MessageRevision, Participant
from tests.messaging.conftest import API, conversation_path, message_path


def code(reply):
    return reply["error"]


def test_an_edit_shows_for_both_and_keeps_what_was(as_alice, as_bob, send_message, thread):
    sent = send_message(as_alice, "teh text", client_id="k")
    edited = as_alice.patch(message_path(sent["id"]), {"body": " the text "})["message"]
    assert edited == sent | {"body": "the text", "is_edited": True, "edited_at": edited["edited_at"]}
    assert edited["edited_at"].endswith("Z")
    assert thread(as_bob)["messages"] == [edited | {"client_id": None}]
    assert MessageRevision.objects.get().body == "teh text"


def test_of_many_edits_the_original_and_the_newest_versions_are_kept(as_alice, send_message, settings):
    settings.MESSAGING_REVISIONS_PER_MESSAGE = 3
    sent = send_message(as_alice, "version 0")
    for number in range(1, 8):
        as_alice.patch(message_path(sent["id"]), {"body": f"version {number}"})
    kept = MessageRevision.objects.order_by("id").values_list("body", flat=True)
    assert list(kept) == ["version 0", "version 4", "version 5", "version 6"]


def test_the_same_text_again_is_no_edit(as_alice, send_message):
    sent = send_message(as_alice, "same")
    assert as_alice.patch(message_path(sent["id"]), {"body": " same "})["message"] == sent
    assert MessageRevision.objects.count() == 0


def test_only_the_author_edits_and_deletes(as_alice, as_bob, as_charlie, send_message):
    sent = send_message(as_alice)
    path = message_path(sent["id"])
    assert code(as_bob.patch(path, {"body": "x"}, status=403)) == "not_message_owner"
    assert code(as_bob.delete(path, status=403)) == "not_message_owner"
    assert code(as_charlie.patch(path, {"body": "x"}, status=404)) == "message_not_found"
    assert code(as_charlie.delete(path, status=404)) == "message_not_found"


def test_a_text_cannot_become_empty(as_alice, send_message):
    path = message_path(send_message(as_alice)["id"])
    for body in ("", "  ", None, 7, True):
        refused = as_alice.patch(path, {"body": body}, status=400)
        assert (code(refused), list(refused["fields"])) == ("validation_error", ["body"])


def test_a_repeat_of_an_edited_message_is_still_a_repeat(as_alice, send_message):
    sent = send_message(as_alice, "first", client_id="k")
    edited = as_alice.patch(message_path(sent["id"]), {"body": "second"})["message"]
    assert send_message(as_alice, "first", status=200, client_id="k") == edited
    assert code(send_message(as_alice, "second", status=409, client_id="k")) == "idempotency_conflict"


def test_deleting_erases_for_both_participants(as_alice, as_bob, send_message, thread):
    remaining, deleted = send_message(as_alice, "kept"), send_message(as_alice, "secret plan", client_id="k")
    answer = send_message(as_bob, "answer", reply_to_id=deleted["id"])
    assert answer["reply_to"]["body"] == "secret plan"
    as_alice.patch(message_path(deleted["id"]), {"body": "secret plan b"})
    as_bob.post(message_path(deleted["id"], "/reactions"), {"emoji": "👍"})
    assert as_alice.delete(message_path(deleted["id"])) == {"ok": True, "message_id": deleted["id"]}
    for client in (as_alice, as_bob):
        seen = thread(client)["messages"]
        assert [message["id"] for message in seen] == [answer["id"], remaining["id"]]
        assert seen[0]["reply_to_id"] == deleted["id"] and seen[0]["reply_to"] is None
    stub = Message.objects.get(id=deleted["id"])
    assert (stub.body, stub.body_folded, stub.request_digest) == (None, "", "")
    assert MessageRevision.objects.count() == 0
    assert stub.reactions.count() == 0
    for reply in (
        as_alice.delete(message_path(deleted["id"]), status=404),
        as_alice.patch(message_path(deleted["id"]), {"body": "x"}, status=404),
        as_bob.post(message_path(deleted["id"], "/reactions"), {"emoji": "👍"}, status=404),
        as_bob.post(message_path(deleted["id"], "/report"), {"reason": "spam"}, status=404),
        send_message(as_bob, "x", status=404, reply_to_id=deleted["id"]),
        send_message(as_alice, "secret plan", status=404, client_id="k"),
    ):
        assert code(reply) == "message_not_found"


def test_deleting_the_newest_brings_the_one_before_into_the_list(as_alice, as_bob, conversation, send_message):
    first, second = send_message(as_alice, "first"), send_message(as_alice, "second")
    as_alice.delete(message_path(second["id"]))
    for client, unread in ((as_alice, 0), (as_bob, 1)):
        seen = client.get(conversation_path(conversation))["conversation"]
        assert (seen["last_message"]["id"], seen["unread_count"]) == (first["id"], unread)
    as_alice.delete(message_path(first["id"]))
    for client in (as_alice, as_bob):
        seen = client.get(conversation_path(conversation))["conversation"]
        assert (seen["last_message"], seen["unread_count"]) == (None, 0)


def test_deleting_what_was_read_changes_no_counter(as_alice, as_bob, conversation, send_message):
    read, unread = send_message(as_alice, "read"), send_message(as_alice, "unread")
    as_bob.post(conversation_path(conversation, "/read"), {"message_id": read["id"]})
    as_alice.delete(message_path(read["id"]))
    seen = as_bob.get(conversation_path(conversation))["conversation"]
    assert (seen["unread_count"], seen["last_message"]["id"]) == (1, unread["id"])


def test_clearing_is_for_oneself_only(as_alice, as_bob, conversation, send_message, thread):
    first, second = send_message(as_alice, "first"), send_message(as_alice, "second")
    cleared = as_bob.post(conversation_path(conversation, "/clear"))
    assert cleared == {"ok": True, "cleared_up_to_id": second["id"]}
    assert thread(as_bob)["messages"] == []
    mine = as_bob.get(conversation_path(conversation))["conversation"]
    assert (mine["last_message"], mine["unread_count"]) == (None, 0)
    assert [m["id"] for m in thread(as_alice)["messages"]] == [second["id"], first["id"]]
    third = send_message(as_alice, "third", reply_to_id=first["id"])
    assert third["reply_to"]["body"] == "first"
    seen = thread(as_bob)["messages"]
    assert [m["id"] for m in seen] == [third["id"]]
    assert (seen[0]["reply_to_id"], seen[0]["reply_to"]) == (first["id"], None)
    assert as_bob.get(conversation_path(conversation))["conversation"]["unread_count"] == 1


def test_clearing_up_to_a_message(as_alice, as_bob, conversation, send_message, thread):
    first, second, third = (send_message(as_alice, text) for text in ("1", "2", "3"))
    path = conversation_path(conversation, "/clear")
    done = {"ok": True, "cleared_up_to_id": second["id"]}
    assert as_bob.post(path, {"message_id": second["id"]}) == done
    assert as_bob.post(path, {"message_id": second["id"]}) == done
    assert as_bob.post(path, {"message_id": first["id"]}) == done
    assert [m["id"] for m in thread(as_bob)["messages"]] == [third["id"]]
    seen = as_bob.get(conversation_path(conversation))["conversation"]
    assert (seen["unread_count"], seen["last_message"]["id"]) == (1, third["id"])


def test_cleared_messages_are_not_found(as_alice, as_bob, conversation, send_message):
    mine, theirs = send_message(as_bob, "mine"), send_message(as_alice, "theirs")
    as_bob.post(conversation_path(conversation, "/clear"))
    for reply in (
        send_message(as_bob, "x", status=404, reply_to_id=theirs["id"]),
        as_bob.post(message_path(theirs["id"], "/reactions"), {"emoji": "👍"}, status=404),
        as_bob.delete(message_path(theirs["id"], "/reactions"), {"emoji": "👍"}, status=404),
        as_bob.post(conversation_path(conversation, "/read"), {"message_id": theirs["id"]}, status=404),
        as_bob.post(message_path(theirs["id"], "/report"), {"reason": "spam"}, status=404),
        as_bob.patch(message_path(mine["id"]), {"body": "x"}, status=404),
        as_bob.delete(message_path(mine["id"]), status=404),
    ):
        assert code(reply) == "message_not_found"


def test_a_repeat_after_clearing_does_not_send_again(as_alice, conversation, send_message):
    sent = send_message(as_alice, "once", client_id="k")
    as_alice.post(conversation_path(conversation, "/clear"))
    assert send_message(as_alice, "once", status=200, client_id="k") == sent
    assert Message.objects.count() == 1


def test_clearing_an_empty_conversation_changes_nothing(as_alice, conversation):
    path = conversation_path(conversation, "/clear")
    assert as_alice.post(path) == {"ok": True, "cleared_up_to_id": 0}
    assert as_alice.post(conversation_path(conversation, "/read")) == {
        "ok": True,
        "last_read_id": 0,
        "unread_count": 0,
        "message_unread_count": 0,
    }


@pytest.mark.parametrize("action", ["read", "clear"])
@pytest.mark.parametrize("value", [0, -1, "5", True, 1.5, [1], 2**70])
def test_a_message_id_that_is_none_is_refused(as_alice, conversation, action, value):
    refused = as_alice.post(conversation_path(conversation, f"/{action}"), {"message_id": value}, status=400)
    assert (code(refused), list(refused["fields"])) == ("validation_error", ["message_id"])


@pytest.mark.parametrize("action", ["read", "clear"])
def test_a_message_of_another_conversation_is_not_found(as_alice, conversation, charlie, send_message, action):
    other = as_alice.post(f"{API}/conversations", {"user_id": charlie.id}, status=201)["conversation"]["id"]
    send_message(as_alice, "here")
    there = as_alice.post(conversation_path(other, "/messages"), {"body": "there"}, status=201)["message"]
    path = conversation_path(conversation, f"/{action}")
    for message_id in (there["id"], 10**15):
        assert code(as_alice.post(path, {"message_id": message_id}, status=404)) == "message_not_found"
    send_message(as_alice, "newer")
    as_alice.post(conversation_path(conversation, "/clear"))
    assert code(as_alice.post(path, {"message_id": there["id"]}, status=404)) == "message_not_found"


def test_watermarks_of_a_participant_only_move_forward(as_alice, as_bob, bob, conversation, send_message):
    ids = [send_message(as_alice, f"{n}")["id"] for n in range(4)]
    read = conversation_path(conversation, "/read")
    unread = []
    for message_id in (ids[1], ids[0], ids[2], ids[1], ids[3]):
        unread.append(as_bob.post(read, {"message_id": message_id})["unread_count"])
    assert unread == [2, 2, 1, 1, 0]
    assert Participant.objects.get(user=bob).last_read_id == ids[3]
