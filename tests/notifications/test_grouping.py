"""What happens often is told once, with a number."""

from datetime import timedelta

import pytest
from django.utils import timezone

from notifications.models import Notification
from notifications.services import social
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def the_feed(client):
    return client.get("/api/v1/notifications")["notifications"]


def test_a_first_like_makes_a_row(as_alice, alice, bob, like):
    assert like(bob, alice, 7, title="Green tea") == "created"
    body = as_alice.get("/api/v1/notifications")
    row = body["notifications"][0]
    assert body == {
        "ok": True,
        "notifications": [
            {
                "id": row["id"],
                "type": "post_like",
                "is_read": False,
                "actor": {
                    "id": bob.id,
                    "username": bob.username,
                    "first_name": "Bob",
                    "last_name": "Baker",
                    "avatar_url": None,
                },
                "target": {"type": "post", "id": 7, "title": "Green tea"},
                "count": 1,
                "created_at": row["created_at"],
            }
        ],
        "unread_count": 1,
        "has_more": False,
        "next_cursor": None,
    }
    assert row["created_at"].endswith("Z")


def test_likes_of_one_post_share_a_row_that_returns_to_the_top(as_alice, alice, bob, charlie, like):
    like(bob, alice, 7)
    first = the_feed(as_alice)[0]
    like(bob, alice, 8)
    assert like(charlie, alice, 7, title="Black tea") == "aggregated"
    rows = the_feed(as_alice)
    assert [row["target"]["id"] for row in rows] == [7, 8]
    assert rows[0]["id"] == first["id"]
    assert rows[0]["count"] == 2
    assert rows[0]["actor"]["id"] == charlie.id
    assert rows[0]["target"]["title"] == "Black tea"
    assert rows[0]["created_at"] > first["created_at"]


def test_likes_count_people_and_comments_count_occurrences(as_alice, alice, bob, like):
    like(bob, alice)
    assert like(bob, alice) == "aggregated"
    for comment_id in (1, 2, 2):
        social.notify(
            kind="comment",
            recipient_id=alice.id,
            actor_id=bob.id,
            target_id=7,
            comment_id=comment_id,
        )
    rows = {row["type"]: row["count"] for row in the_feed(as_alice)}
    assert rows == {"comment": 3, "post_like": 1}


def test_all_follows_share_a_row_whose_target_is_the_latest_actor(as_alice, alice, bob, charlie):
    for actor in (bob, charlie):
        social.notify(kind="follow", recipient_id=alice.id, actor_id=actor.id)
    [row] = the_feed(as_alice)
    assert row["count"] == 2
    assert row["target"] == {"type": "user", "id": charlie.id, "title": "Charlie Cooper"}


@pytest.mark.parametrize("kind", ["follow_request", "follow_approved"])
def test_requests_and_approvals_are_never_grouped(as_alice, alice, bob, charlie, kind):
    for actor in (bob, charlie):
        assert social.notify(kind=kind, recipient_id=alice.id, actor_id=actor.id) == "created"
    assert [(row["actor"]["id"], row["count"]) for row in the_feed(as_alice)] == [
        (charlie.id, 1),
        (bob.id, 1),
    ]


def test_a_read_row_is_never_opened_again(as_alice, alice, bob, charlie, like):
    like(bob, alice)
    as_alice.post("/api/v1/notifications/read-all")
    assert like(charlie, alice) == "created"
    assert [(row["is_read"], row["count"]) for row in the_feed(as_alice)] == [
        (False, 1),
        (True, 1),
    ]


def test_a_group_is_open_for_a_day_from_its_first_occurrence(as_alice, alice, bob, charlie, like):
    now = timezone.now()
    like(bob, alice, occurred_at=now - timedelta(hours=24))
    assert like(charlie, alice, occurred_at=now - timedelta(minutes=1)) == "aggregated"
    assert like(make_user("Dora"), alice, occurred_at=now) == "created"
    assert [row["count"] for row in the_feed(as_alice)] == [1, 2]
    assert as_alice.get("/api/v1/notifications")["unread_count"] == 2


@pytest.mark.timeout(20)
def test_a_window_of_no_hours_groups_nothing(as_alice, alice, bob, charlie, like, settings):
    settings.NOTIFICATIONS_GROUP_HOURS = 0
    assert [like(actor, alice) for actor in (bob, charlie)] == ["created", "created"]
    assert [row["count"] for row in the_feed(as_alice)] == [1, 1]


def test_an_occurrence_of_the_past_counts_without_taking_the_row_back(as_alice, alice, bob, charlie, like):
    like(bob, alice)
    before = the_feed(as_alice)[0]
    like(charlie, alice, occurred_at=timezone.now() - timedelta(hours=1))
    assert the_feed(as_alice) == [before | {"count": 2}]


def test_the_future_counts_as_now(as_alice, alice, bob, like):
    like(bob, alice, occurred_at=timezone.now() + timedelta(days=3))
    assert Notification.objects.get().created_at <= timezone.now()


def test_a_long_title_is_cut_and_a_missing_one_is_empty(as_alice, alice, bob, like):
    like(bob, alice, 1, title="é" * 500)
    like(bob, alice, 2, title="")
    titles = [row["target"]["title"] for row in the_feed(as_alice)]
    assert titles == ["", "é" * 120]
