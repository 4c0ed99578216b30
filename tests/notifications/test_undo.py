"""What is taken back leaves no trace."""

from datetime import timedelta

import pytest
from django.utils import timezone

from notifications.models import Delivery, Notification, Occurrence
from notifications.services import devices, social
from tests.factories import sign_in

pytestmark = pytest.mark.django_db


def the_feed(client):
    return client.get("/api/v1/notifications")["notifications"]


def test_unlike_brings_back_the_previous_actor_and_place(as_alice, alice, bob, charlie, like, unlike):
    like(bob, alice)
    before = the_feed(as_alice)
    like(charlie, alice)
    assert unlike(charlie, alice) == "retracted"
    assert the_feed(as_alice) == before


def test_the_last_unlike_removes_the_row(as_alice, alice, bob, like, unlike):
    like(bob, alice)
    assert unlike(bob, alice) == "retracted"
    assert as_alice.get("/api/v1/notifications")["notifications"] == []
    assert as_alice.get("/api/v1/notifications/unread-count")["unread_count"] == 0
    assert unlike(bob, alice) == "not_found"


def test_a_hundred_likes_and_unlikes_end_where_they_began(as_alice, alice, bob, charlie, like, unlike):
    like(charlie, alice)
    before = the_feed(as_alice)
    for _ in range(100):
        like(bob, alice)
        unlike(bob, alice)
    assert the_feed(as_alice) == before
    assert Occurrence.objects.count() == 1


def test_an_undo_reaches_a_row_that_was_read(as_alice, alice, bob, charlie, like, unlike):
    like(bob, alice)
    like(charlie, alice)
    as_alice.post("/api/v1/notifications/read-all")
    unlike(charlie, alice)
    [row] = the_feed(as_alice)
    assert (row["count"], row["actor"]["id"], row["is_read"]) == (1, bob.id, True)


def test_a_comment_is_taken_back_by_its_own_id(as_alice, alice, bob):
    def comment(comment_id):
        return {
            "kind": "comment",
            "recipient_id": alice.id,
            "actor_id": bob.id,
            "target_id": 7,
            "comment_id": comment_id,
        }

    social.notify(**comment(1))
    social.notify(**comment(2))
    assert social.retract(**comment(3)) == "not_found"
    assert social.retract(**comment(1)) == "retracted"
    assert social.retract(**comment(1)) == "not_found"
    assert the_feed(as_alice)[0]["count"] == 1
    assert Occurrence.objects.get().comment_id == 2


@pytest.mark.parametrize("kind", ["follow", "follow_request", "follow_approved"])
def test_follows_are_taken_back_without_a_target(alice, bob, kind):
    social.notify(kind=kind, recipient_id=alice.id, actor_id=bob.id)
    assert social.retract(kind=kind, recipient_id=alice.id, actor_id=bob.id) == "retracted"
    assert not Notification.objects.exists()


def test_only_the_exact_particulars_match(alice, bob, charlie, like, unlike):
    like(bob, alice, 7)
    assert unlike(charlie, alice, 7) == "not_found"
    assert unlike(bob, charlie, 7) == "not_found"
    assert unlike(bob, alice, 8) == "not_found"
    assert Notification.objects.get().count == 1


def test_a_push_that_told_of_the_unlike_alone_does_not_leave(alice, bob, charlie, like, unlike):
    session, _ = sign_in(alice)
    devices.register(user_id=alice.id, session_id=session.id, token="abc")
    waiting = Delivery.objects.filter(state="pending")
    like(bob, alice)
    like(charlie, alice)
    unlike(charlie, alice)
    assert waiting.count() == 1, "it still tells of Bob"
    waiting.update(state="sent", dedupe_key="the first one")
    like(charlie, alice)
    assert waiting.count() == 1
    unlike(charlie, alice)
    assert waiting.count() == 0
    like(charlie, alice)
    assert waiting.count() == 1
    unlike(charlie, alice)
    unlike(bob, alice)
    assert waiting.count() == 0


def test_a_push_about_others_leaves_although_their_likes_were_reported_late(alice, bob, charlie, like, unlike):
    session, _ = sign_in(alice)
    devices.register(user_id=alice.id, session_id=session.id, token="abc")
    now = timezone.now()
    like(bob, alice, occurred_at=now - timedelta(seconds=20))
    like(charlie, alice, occurred_at=now - timedelta(seconds=10))
    unlike(charlie, alice)
    assert Delivery.objects.get().state == "pending", "it still tells of Bob"
