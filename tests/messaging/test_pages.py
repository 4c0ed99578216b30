"""Long lists: page by page in both directions, with a number of queries that does not grow."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from messaging.services import messages, reactions
from tests.factories import make_user
from tests.messaging.conftest import API, conversation_path


@pytest.fixture
def history(alice, bob, conversation):
    """120 messages, every third by Bob; their ids, oldest first."""
    return [
        messages.send(sender=bob if n % 3 == 0 else alice, conversation_id=conversation, body=f"number {n}")[0].id
        for n in range(120)
    ]


def ids(page):
    return [message["id"] for message in page["messages"]]


def test_backwards_from_the_newest(as_bob, history, thread):
    seen, query = [], "?limit=50"
    for size, more in ((50, True), (50, True), (20, False)):
        page = thread(as_bob, query)
        assert (len(page["messages"]), page["has_more"]) == (size, more)
        seen += ids(page)
        query = f"?limit=50&before={seen[-1]}"
    assert seen == history[::-1]


def test_forwards_from_the_oldest(as_bob, history, thread):
    seen, last = [], 0
    for size, more in ((50, True), (50, True), (20, False)):
        page = thread(as_bob, f"?after={last}")
        assert (len(page["messages"]), page["has_more"]) == (size, more)
        assert ids(page) == sorted(ids(page), reverse=True)
        seen += ids(page)[::-1]
        last = seen[-1]
    assert seen == history


def test_the_page_that_ends_exactly_at_the_oldest_has_no_more(as_bob, history, thread):
    assert thread(as_bob, f"?limit=60&before={history[60]}")["has_more"] is False
    assert thread(as_bob, f"?limit=59&before={history[60]}")["has_more"] is True
    assert thread(as_bob, f"?before={history[0]}") == {"ok": True, "messages": [], "has_more": False}
    assert thread(as_bob, f"?after={history[-1]}") == {"ok": True, "messages": [], "has_more": False}


def test_the_page_size_is_50_and_at_most_100(as_bob, history, thread):
    assert len(thread(as_bob)["messages"]) == 50
    assert len(thread(as_bob, "?limit=100")["messages"]) == 100
    assert len(thread(as_bob, "?limit=1000000000000000000000")["messages"]) == 100


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=ten",
        "limit=",
        "limit=1.5",
        "limit=٣",
        "limit=1e2",
        "limit=true",
        "before=0",
        "before=-4",
        "before=x",
        "before=",
        "before=%00",
        "after=-1",
        "after=x",
        "after=null",
    ],
)
def test_odd_numbers_in_the_query_are_refused_by_name(as_bob, conversation, query):
    refused = as_bob.get(conversation_path(conversation, f"/messages?{query}"), status=400)
    assert refused["error"] == "validation_error"
    assert list(refused["fields"]) == [query.split("=")[0]]


def test_before_and_after_exclude_each_other(as_bob, conversation):
    refused = as_bob.get(conversation_path(conversation, "/messages?before=9&after=3"), status=400)
    assert refused["error"] == "validation_error"


def test_before_beyond_every_id_is_the_newest_page(as_bob, history, thread):
    assert thread(as_bob, f"?before={2**80}") == thread(as_bob)


def statements(captured):
    """Without BEGIN, COMMIT and savepoints: those carry no question."""
    control = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
    return [query["sql"] for query in captured.captured_queries if not query["sql"].startswith(control)]


@pytest.mark.parametrize("count", [1, 10, 50])
def test_listing_messages_takes_two_queries_whatever_their_number(as_bob, alice, bob, conversation, count):
    last = None
    for n in range(count):
        sent, _ = messages.send(sender=alice, conversation_id=conversation, body=f"{n}", reply_to_id=last)
        last = sent.id
        for emoji in ("👍", "🎉"):
            reactions.add(user=bob, message_id=last, emoji=emoji)
            reactions.add(user=alice, message_id=last, emoji=emoji)
    with CaptureQueriesContext(connection) as captured:
        page = as_bob.get(conversation_path(conversation, "/messages"))["messages"]
    assert len(page) == count
    assert all(message["reactions"][0]["count"] == 2 for message in page)
    assert len(statements(captured)) == 2


@pytest.mark.parametrize("count", [1, 10, 50])
def test_listing_conversations_takes_two_queries_whatever_their_number(as_alice, alice, count):
    from messaging.services import conversations

    for n in range(count):
        other = make_user(f"Friend{n}")
        made, _ = conversations.start(starter=alice, user_id=other.id)
        messages.send(sender=other, conversation_id=made.id, body="hi")
    with CaptureQueriesContext(connection) as captured:
        page = as_alice.get(f"{API}/conversations?limit=50")["conversations"]
    assert len(page) == count
    assert len(statements(captured)) == 2


def test_sending_takes_a_fixed_number_of_queries(as_alice, alice, bob, conversation):
    counts = set()
    path = conversation_path(conversation, "/messages")
    first = as_alice.post(path, {"body": "first"}, status=201)["message"]["id"]
    for number in range(20):
        with CaptureQueriesContext(connection) as captured:
            as_alice.post(path, {"body": "x", "client_id": f"c{number}"}, status=201)
        counts.add(len(statements(captured)))
    assert len(counts) == 1 and counts.pop() <= 7
    with CaptureQueriesContext(connection) as captured:
        as_alice.post(path, {"body": "x", "reply_to_id": first}, status=201)
    assert len(statements(captured)) <= 8


def test_conversations_page_by_cursor_newest_activity_first(as_alice, alice):
    from messaging.services import conversations

    made = []
    for n in range(25):
        other = make_user(f"Friend{n}")
        made.append((conversations.start(starter=alice, user_id=other.id)[0].id, other))
    for conversation_id, other in made[::2]:
        messages.send(sender=other, conversation_id=conversation_id, body="hi")
    active = [conversation_id for conversation_id, _ in made[::2]][::-1]
    quiet = [conversation_id for conversation_id, _ in made[1::2]][::-1]
    seen, cursor = [], ""
    while cursor is not None:
        page = as_alice.get(f"{API}/conversations?limit=10{cursor and f'&cursor={cursor}'}")
        seen += [conversation["id"] for conversation in page["conversations"]]
        assert page["has_more"] is (page["next_cursor"] is not None)
        cursor = page["next_cursor"]
    assert seen == active + quiet


def test_a_new_message_during_paging_repeats_nothing(as_alice, alice):
    from messaging.services import conversations

    made = []
    for n in range(12):
        other = make_user(f"Friend{n}")
        made.append((conversations.start(starter=alice, user_id=other.id)[0].id, other))
    first = as_alice.get(f"{API}/conversations?limit=5")
    conversation_id, other = made[0]
    messages.send(sender=other, conversation_id=conversation_id, body="to the top")
    second = as_alice.get(f"{API}/conversations?limit=50&cursor={first['next_cursor']}")
    seen = [c["id"] for c in first["conversations"] + second["conversations"]]
    assert len(seen) == len(set(seen)) == 11
    assert as_alice.get(f"{API}/conversations")["conversations"][0]["id"] == conversation_id


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "MTIz",
        "MS4y.",
        "AAAA",
        "%00",
        "-1",
        "MS4yLjM",
        "MS4tMg",
        "é",
        "bnVsbA",
        "MS4yMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjI",
    ],
)
def test_a_bad_cursor_is_refused(as_alice, cursor):
    refused = as_alice.get(f"{API}/conversations?cursor={cursor}", status=400)
    assert refused["error"] == "validation_error"
    assert list(refused["fields"]) == ["cursor"]
