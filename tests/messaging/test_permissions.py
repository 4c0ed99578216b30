"""Who may contact whom: confirmed addresses, blocks and privacy, at every entry point."""

import pytest

from accounts.models import Block, User
from messaging import selectors
from messaging.models import Conversation
from messaging.services import conversations
from realtime.models import Event
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.messaging.conftest import API, conversation_path, message_path

pytestmark = pytest.mark.django_db


def code(reply):
    return reply["error"]


def actions(client, conversation, own, theirs):
    """Everything that reaches the other one: (name, call with the status that is expected)."""
    return [
        ("send", lambda s: client.post(conversation_path(conversation, "/messages"), {"body": "x"}, status=s)),
        (
            "image",
            lambda s: client.upload(conversation_path(conversation, "/media"), status=s, file=picture()),
        ),
        ("edit", lambda s: client.patch(message_path(own), {"body": "other"}, status=s)),
        ("react", lambda s: client.post(message_path(theirs, "/reactions"), {"emoji": "👍"}, status=s)),
    ]


def picture():
    from io import BytesIO

    from PIL import Image

    data = BytesIO()
    Image.new("RGB", (8, 8), "red").save(data, "PNG")
    data.seek(0)
    data.name = "a.png"
    return data


def refused_everywhere(client, conversation, own, theirs):
    return {name: code(call(403)) for name, call in actions(client, conversation, own, theirs)}


@pytest.mark.parametrize("blocker", ["alice", "bob"])
def test_a_block_stops_both_at_once(request, as_alice, as_bob, alice, bob, conversation, send_message, thread, blocker):
    hers, his = send_message(as_alice, "hers", client_id="k"), send_message(as_bob, "his")
    as_bob.post(message_path(hers["id"], "/reactions"), {"emoji": "👍"})
    as_bob.post(conversation_path(conversation, "/read"))
    other = bob if blocker == "alice" else alice
    Block.objects.create(blocker=request.getfixturevalue(blocker), blocked=other)
    expected = dict.fromkeys(["send", "image", "edit", "react"], "user_blocked")
    assert refused_everywhere(as_alice, conversation, hers["id"], his["id"]) == expected
    assert refused_everywhere(as_bob, conversation, his["id"], hers["id"]) == expected
    for client, peer, read in ((as_alice, bob, his["id"]), (as_bob, alice, 0)):
        assert len(thread(client)["messages"]) == 2
        seen = client.post(f"{API}/conversations", {"user_id": peer.id}, status=200)["conversation"]
        assert (seen["is_blocked"], seen["other_last_read_id"]) == (True, read)
        client.post(conversation_path(conversation, "/read"))
        client.get(conversation_path(conversation, "/search?q=h"))
    assert send_message(as_alice, "hers", status=200, client_id="k")["id"] == hers["id"]
    assert as_bob.delete(message_path(hers["id"], "/reactions"), {"emoji": "👍"})["reactions"] == []
    as_alice.delete(message_path(hers["id"]))
    as_bob.post(conversation_path(conversation, "/clear"))
    Block.objects.all().delete()
    send_message(as_alice, "again")


@pytest.mark.parametrize("blocker", ["alice", "bob"])
def test_receipts_stay_as_they_were_before_a_block(
    request, as_alice, as_bob, alice, bob, conversation, send_message, blocker
):
    first, second = send_message(as_alice)["id"], send_message(as_alice)["id"]
    as_bob.post(conversation_path(conversation, "/read"), {"message_id": first})
    conversations.mark_delivered(user_id=bob.id, delivered={conversation: first})

    def seen():
        shown = as_alice.get(conversation_path(conversation))["conversation"]
        return shown["other_last_read_id"], shown["other_delivered_id"]

    other = bob if blocker == "alice" else alice
    block = Block.objects.create(blocker=request.getfixturevalue(blocker), blocked=other)
    told = Event.objects.filter(user=alice, type="conversation.read")
    before = told.count()
    assert seen() == (first, first)
    assert as_bob.post(conversation_path(conversation, "/read"))["unread_count"] == 0
    assert conversations.mark_delivered(user_id=bob.id, delivered={conversation: second}) == {}
    assert as_bob.get(conversation_path(conversation))["conversation"]["last_read_id"] == second
    assert (seen(), told.count()) == ((first, first), before)
    # What was read meanwhile is told with what is read next.
    block.delete()
    assert seen() == (first, first)
    third = send_message(as_alice)["id"]
    as_bob.post(conversation_path(conversation, "/read"))
    assert (seen(), told.count()) == ((third, third), before + 1)


def test_no_conversation_starts_with_a_blocked_user(as_alice, as_bob, alice, bob):
    Block.objects.create(blocker=bob, blocked=alice)
    for client, other in ((as_alice, bob), (as_bob, alice)):
        assert code(client.post(f"{API}/conversations", {"user_id": other.id}, status=403)) == "user_blocked"
    assert Conversation.objects.count() == 0


def test_a_user_who_accepts_no_messages_gets_none(as_alice, as_bob, bob, conversation, send_message):
    hers, his = send_message(as_alice, "hers"), send_message(as_bob, "his")
    User.objects.filter(id=bob.id).update(who_can_message="nobody")
    expected = dict.fromkeys(["send", "image", "edit", "react"], "message_permission_denied")
    assert refused_everywhere(as_alice, conversation, hers["id"], his["id"]) == expected
    send_message(as_bob, "I may")


def test_contacts_are_those_one_has_written_to(as_alice, as_bob, bob, conversation, send_message):
    User.objects.filter(id=bob.id).update(who_can_message="contacts")
    assert code(send_message(as_alice, status=403)) == "message_permission_denied"
    his = send_message(as_bob, "hello")
    send_message(as_alice, "hello yourself")
    as_bob.delete(message_path(his["id"]))
    send_message(as_alice, "still there?")


def test_the_block_is_named_before_privacy(as_alice, alice, bob, conversation, send_message):
    Block.objects.create(blocker=bob, blocked=alice)
    User.objects.filter(id=bob.id).update(who_can_message="nobody")
    assert code(send_message(as_alice, status=403)) == "user_blocked"


def test_an_unconfirmed_account_reads_and_does_not_reach_others(
    alice, bob, as_alice, as_bob, conversation, send_message
):
    hers, his = send_message(as_alice, "hers"), send_message(as_bob, "his")
    User.objects.filter(id=alice.id).update(email_verified_at=None)
    expected = dict.fromkeys(["send", "image", "edit", "react"], "email_not_verified")
    assert refused_everywhere(as_alice, conversation, hers["id"], his["id"]) == expected
    assert code(as_alice.get(f"{API}/users?q=b", status=403)) == "email_not_verified"
    assert code(as_alice.post(f"{API}/conversations", {"user_id": bob.id}, status=403)) == "email_not_verified"
    as_alice.get(f"{API}/conversations")
    as_alice.get(conversation_path(conversation))
    as_alice.get(conversation_path(conversation, "/messages"))
    as_alice.post(conversation_path(conversation, "/read"))
    as_alice.post(conversation_path(conversation, "/clear"))


def test_receipts_are_mutual(as_alice, as_bob, alice, bob, conversation, send_message):
    sent = send_message(as_alice)
    as_bob.post(conversation_path(conversation, "/read"))

    def seen(client):
        return client.get(conversation_path(conversation))["conversation"]["other_last_read_id"]

    assert (seen(as_alice), seen(as_bob)) == (sent["id"], 0)
    for person in (alice, bob):
        User.objects.filter(id=person.id).update(read_receipts=False)
        assert (seen(as_alice), seen(as_bob)) == (None, None)
        User.objects.filter(id=person.id).update(read_receipts=True)
    assert seen(as_alice) == sent["id"]


@pytest.mark.parametrize(
    "body", [{}, {"user_id": "5"}, {"user_id": True}, {"user_id": 0}, {"user_id": None}, {"user_id": 1.0}]
)
def test_a_start_needs_an_id(as_alice, body):
    refused = as_alice.post(f"{API}/conversations", body, status=400)
    assert (code(refused), list(refused["fields"])) == ("validation_error", ["user_id"])


def test_no_conversation_starts_with_oneself(as_alice, alice):
    refused = as_alice.post(f"{API}/conversations", {"user_id": alice.id}, status=400)
    assert list(refused["fields"]) == ["user_id"]


def test_a_start_with_an_unknown_user_is_user_not_found(as_alice):
    unconfirmed = make_user("New", verified=False)
    blocked = make_user("Bad")
    User.objects.filter(id=blocked.id).update(blocked_at="2020-01-01T00:00:00Z")
    replies = [
        as_alice.post(f"{API}/conversations", {"user_id": user_id}, status=404)
        for user_id in (unconfirmed.id, blocked.id, 10**12)
    ]
    for reply in replies:
        reply.pop("request_id")
    assert replies[0] == replies[1] == replies[2]
    assert code(replies[0]) == "user_not_found"


def test_the_empty_conversation_is_listed_for_the_starter_alone(as_alice, as_bob, conversation):
    [listed] = as_alice.get(f"{API}/conversations")["conversations"]
    assert (listed["id"], listed["last_message"]) == (conversation, None)
    assert as_bob.get(f"{API}/conversations")["conversations"] == []


def test_the_check_of_contact_is_the_same_for_other_apps(alice, bob, conversation):
    from accounts.exceptions import UserBlocked
    from messaging.exceptions import MessagePermissionDenied

    row = selectors.conversation_for(alice, conversation)
    assert selectors.check_can_contact(alice, row) is None
    User.objects.filter(id=bob.id).update(who_can_message="nobody")
    with pytest.raises(MessagePermissionDenied):
        selectors.check_can_contact(alice, row)
    assert selectors.check_can_contact(bob, row) is None
    Block.objects.create(blocker=alice, blocked=bob)
    with pytest.raises(UserBlocked):
        selectors.check_can_contact(bob, row)


def test_without_a_token_nothing_opens(anonymous, conversation):
    for method, path in (
        ("GET", f"{API}/users?q=a"),
        ("GET", f"{API}/conversations"),
        ("POST", f"{API}/conversations"),
        ("GET", conversation_path(conversation)),
        ("GET", conversation_path(conversation, "/messages")),
        ("POST", conversation_path(conversation, "/messages")),
        ("POST", conversation_path(conversation, "/media")),
        ("POST", conversation_path(conversation, "/read")),
        ("POST", conversation_path(conversation, "/clear")),
        ("GET", conversation_path(conversation, "/search?q=a")),
        ("PATCH", message_path(1)),
        ("DELETE", message_path(1)),
        ("POST", message_path(1, "/reactions")),
        ("DELETE", message_path(1, "/reactions")),
        ("POST", message_path(1, "/report")),
    ):
        assert code(anonymous.request(method, path, None, 401)) == "token_invalid", path


def test_a_token_of_a_peer_is_no_key_to_other_conversations(conversation):
    as_other_user = ApiClient(sign_in(make_user("Stranger"))[1])
    assert as_other_user.get(f"{API}/conversations")["conversations"] == []
