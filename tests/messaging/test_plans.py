"""How much is read: no more for a conversation of eight thousand messages than for one of a hundred."""

import json
from itertools import combinations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from messaging import selectors
from messaging.models import Conversation, Message, Participant
from messaging.selectors.search import search_everywhere, search_page
from messaging.services import conversations
from messaging.services.locking import count_unread, newest_visible_id
from tests.factories import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="reads the plans of PostgreSQL"),
]


@pytest.fixture
def histories(alice, bob):
    """Conversations of 100 and of 8,000 messages, the larger one followed by 8,000 of other people."""
    made = {}
    for size, people in (
        (100, (alice, make_user("Short"))),
        (8_000, (alice, bob)),
        (8_001, (make_user("Other"), make_user("Another"))),
    ):
        made[size] = conversations.start(starter=people[0], user_id=people[1].id)[0].id
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO messaging_message (conversation_id, sender_id, kind, body, body_folded, call_media,"
                " call_outcome, request_digest, counts_as_unread, created_at)"
                " SELECT %s, %s, 'text', t, t, '', '', '', true, now() FROM generate_series(1, %s) n,"
                " LATERAL (SELECT md5(n::text) || CASE WHEN n = 7 THEN ' needle' ELSE ' hay' END AS t) texts",
                [made[size], people[1].id, size],
            )
            cursor.execute("SELECT MAX(id) FROM messaging_message")
            (newest,) = cursor.fetchone()
        Participant.objects.filter(conversation_id=made[size]).update(last_message_id=newest, activity_id=newest)
    with connection.cursor() as cursor:
        # Entries of the search index that wait to be sorted in, also those of tests before, make it look expensive.
        cursor.execute("SELECT gin_clean_pending_list('message_search')")
        cursor.execute("ANALYZE")
    assert Conversation.objects.count() == 3
    return made


def rows_read(run):
    """Rows that all scans of messages gave or threw away, over all statements of `run`."""
    with CaptureQueriesContext(connection) as captured:
        run()
    total = 0
    for query in captured.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query["sql"].replace("%", "%%"), [])
            (plan,) = cursor.fetchone()
        total += _scanned((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
    return total


def _scanned(node):
    own = 0
    if node.get("Relation Name") == Message._meta.db_table or node.get("Index Name", "").startswith("message"):
        loops = node["Actual Loops"]
        own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * loops
    return own + sum(_scanned(child) for child in node.get("Plans", []))


def middle(conversation_id):
    ids = Message.objects.filter(conversation_id=conversation_id).order_by("id").values_list("id", flat=True)
    return ids[len(ids) // 2]


def test_pages_read_what_they_show(histories, alice):
    for size in (100, 8_000):
        conversation_id = histories[size]
        place = middle(conversation_id)
        for more in ({}, {"before": place}, {"after": place}):
            page = {"user_id": alice.id, "conversation_id": conversation_id, "limit": 40, **more}
            assert rows_read(lambda p=page: selectors.message_page(**p)) <= 300


def test_lists_and_counters_do_not_read_histories(histories, alice):
    assert rows_read(lambda: selectors.conversation_page(user_id=alice.id, limit=30)) <= 2
    assert rows_read(lambda: selectors.message_unread_count(alice.id)) == 0
    assert rows_read(lambda: newest_visible_id(histories[8_000], 0)) <= 1
    participant = Participant.objects.get(conversation_id=histories[8_000], user=alice)
    participant.last_read_id = Message.objects.filter(conversation_id=histories[8_000]).order_by("-id")[30].id
    assert rows_read(lambda: count_unread(participant)) <= 100


def test_a_search_reads_a_bounded_number_of_rows(histories, alice):
    for word in ("needle", "absent", "hay", "zq", "y"):
        search = {"user_id": alice.id, "conversation_id": histories[8_000], "folded": word, "limit": 20}
        assert rows_read(lambda s=search: search_page(**s)) <= 3_100, word


def test_the_conversation_list_is_planned_once_for_all_users(alice, bob):
    """Also for a user with fewer conversations than most, for whom PostgreSQL expects less work than for any user."""
    conversations.start(starter=alice, user_id=bob.id)
    busy = [make_user(f"Busy{number}").id for number in range(50)]
    pairs = Conversation.objects.bulk_create(
        Conversation(user_low_id=low, user_high_id=high) for low, high in combinations(busy, 2)
    )
    Participant.objects.bulk_create(
        Participant(conversation=pair, user_id=user_id, is_shown=True, activity_id=pair.id)
        for pair in pairs
        for user_id in (pair.user_low_id, pair.user_high_id)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for _ in range(12):
        assert len(selectors.conversation_page(user_id=alice.id, limit=17)[0]) == 1
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE %s",
            ["SELECT p.conversation_id%LIMIT 18%"],
        )
        assert [plans > 0 for (plans,) in cursor.fetchall()] == [True]


def test_a_search_in_all_conversations_reads_a_bounded_number_of_rows(histories, alice):
    for word in ("needle", "absent", "hay", "zq", "y"):
        search = {"user_id": alice.id, "folded": word, "limit": 20}
        assert rows_read(lambda s=search: search_everywhere(**s)) <= 3_500, word
    assert len(search_everywhere(user_id=alice.id, folded="needle", limit=20)[0]) == 2
