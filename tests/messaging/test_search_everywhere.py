"""A search in all conversations of a user: the same hits on both databases, in pages that read a bounded number of rows."""

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from messaging.services import conversations, messages
from tests.factories import make_user
from tests.messaging.conftest import conversation_path, message_path

pytestmark = pytest.mark.django_db


def pages(client, q, limit=3):
    """The ids of the hits, and the number of requests."""
    found, cursor, requests = [], None, 0
    while True:
        rest = f"&cursor={cursor}" if cursor else ""
        reply = client.get(f"/api/v1/messages/search?q={q}&limit={limit}{rest}")
        requests += 1
        found += [message["id"] for message in reply["messages"]]
        assert len(reply["messages"]) <= limit
        assert reply["has_more"] == (reply["next_cursor"] is not None)
        if not reply["has_more"]:
            return found, requests
        cursor = reply["next_cursor"]


@pytest.fixture
def chats(alice):
    """Conversations of Alice with five people, the last one written to on top."""
    people = [make_user(f"Person{number}") for number in range(5)]
    return [(person, conversations.start(starter=alice, user_id=person.id)[0].id) for person in people]


def say(sender, chat, *texts):
    return [messages.send(sender=sender, conversation_id=chat, body=text)[0].id for text in texts]


def test_hits_of_all_conversations_in_the_order_of_the_list(alice, as_alice, as_bob, chats):
    expected = []
    for person, chat in chats:
        ids = say(person, chat, "Green tea", "coffee", "green TEA")
        expected = [ids[2], ids[0], *expected]
    assert pages(as_alice, "tea", limit=100) == (expected, 1)
    for limit in (1, 2, 3, 7):
        assert pages(as_alice, "tea", limit)[0] == expected, limit
    hit = as_alice.get("/api/v1/messages/search?q=tea&limit=1")["messages"][0]
    assert (hit["id"], hit["conversation_id"], hit["body"]) == (expected[0], chats[-1][1], "green TEA")
    assert pages(as_bob, "tea") == ([], 1)


def test_cleared_and_deleted_messages_are_not_found(alice, as_alice, chats):
    (first, one), (second, two) = chats[:2]
    say(first, one, "secret")
    [gone, stays] = say(alice, two, "secret", "secret")
    as_alice.delete(message_path(gone))
    as_alice.post(conversation_path(one, "/clear"))
    assert pages(as_alice, "secret")[0] == [stays]
    [again] = say(first, one, "secret again")
    assert pages(as_alice, "secret")[0] == [again, stays]


@override_settings(MESSAGING_SEARCH_CONVERSATIONS=2, MESSAGING_SEARCH_SCAN_EACH=4, MESSAGING_SEARCH_SCAN_MAX=6)
@pytest.mark.parametrize("q", ["needle", "ё"])
def test_long_histories_are_searched_to_their_beginning(alice, as_alice, chats, q):
    """Also for a query that no index serves."""
    expected = []
    for number, (person, chat) in enumerate(chats):
        texts = [("needle ё" if n in (0, 9, 14) else "hay") for n in range(15 if number % 2 else 3)]
        ids = say(person, chat, *texts)
        expected = [
            *[message_id for message_id, text in zip(reversed(ids), reversed(texts), strict=True) if text != "hay"],
            *expected,
        ]
    for limit in (1, 2, 20):
        assert pages(as_alice, q, limit)[0] == expected, limit


@override_settings(MESSAGING_SEARCH_CONVERSATIONS=2, MESSAGING_SEARCH_SCAN_EACH=4, MESSAGING_SEARCH_SCAN_MAX=6)
def test_a_conversation_that_rises_meanwhile_is_searched_to_its_end(alice, as_alice, chats):
    hits = {chat: say(person, chat, "tea one", "tea two") for person, chat in chats}
    (person, third) = chats[2]
    expected = [message_id for _, chat in reversed(chats) for message_id in reversed(hits[chat])]
    first = as_alice.get("/api/v1/messages/search?q=tea&limit=5")
    say(person, third, "something else")
    second = as_alice.get(f"/api/v1/messages/search?q=tea&limit=50&cursor={first['next_cursor']}")
    third_page = as_alice.get(f"/api/v1/messages/search?q=tea&limit=50&cursor={second['next_cursor']}")
    found = [m["id"] for reply in (first, second, third_page) for m in reply["messages"]]
    assert found == expected


@pytest.mark.parametrize(
    "query", ["", "q=", "q=" + "x" * 129, "q=x&limit=0", "q=x&cursor=a", "q=x&cursor=MS4x", "q=x&cursor=MC4wLjA"]
)
def test_odd_searches_are_refused(as_alice, query):
    refused = as_alice.get(f"/api/v1/messages/search?{query}", status=400)
    assert refused["error"] == "validation_error"
    assert len(refused["fields"]) == 1


def test_the_number_of_statements_does_not_grow_with_the_conversations(alice, as_alice, chats):
    counts = []
    for person, chat in chats:
        say(person, chat, "tea", "coffee")
        with CaptureQueriesContext(connection) as captured:
            as_alice.get("/api/v1/messages/search?q=tea")
        counts.append(len(captured))
    assert len(set(counts)) == 1
