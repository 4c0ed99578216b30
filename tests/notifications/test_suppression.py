"""No notification about oneself, between users with a block, or while staff blocks the recipient."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Block
from accounts.services import profile
from notifications import selectors
from notifications.models import Notification, Occurrence
from notifications.services import social
from notifications.services.delivery.push_messages import push_contents
from notifications.signals import social_event_happened

pytestmark = pytest.mark.django_db
FEED = "/api/v1/notifications"


def push_content(row):
    return push_contents([(row.id, "en")]).get((row.id, "en"))


def test_never_to_oneself(alice, like):
    assert like(alice, alice) == "suppressed:self"
    assert not Notification.objects.exists()


@pytest.mark.parametrize("who", ["recipient blocks", "actor blocks"])
def test_never_from_a_blocked_person(alice, bob, like, who):
    blocker, blocked = (alice, bob) if who == "recipient blocks" else (bob, alice)
    Block.objects.create(blocker=blocker, blocked=blocked)
    assert like(bob, alice) == "suppressed:blocked"
    assert not Notification.objects.exists()


@pytest.mark.parametrize(
    ("until", "outcome"), [(None, "suppressed:blocked"), (-1, "created"), (1, "suppressed:blocked")]
)
def test_never_to_an_account_that_staff_blocks(alice, bob, like, until, outcome):
    now = timezone.now()
    alice.blocked_at = now - timedelta(days=2)
    alice.blocked_until = now + timedelta(hours=until) if until else None
    alice.save()
    assert like(bob, alice) == outcome


def test_a_block_takes_the_person_out_of_groups_and_an_end_brings_nothing_back(as_alice, alice, bob, charlie, like):
    like(bob, alice, 7)
    like(charlie, alice, 7)
    like(charlie, alice, 8)
    social.notify(kind="follow", recipient_id=charlie.id, actor_id=alice.id)
    profile.block(blocker=alice, blocked_id=charlie.id)
    body = as_alice.get(FEED)
    assert [(row["target"]["id"], row["count"], row["actor"]["id"]) for row in body["notifications"]] == [
        (7, 1, bob.id)
    ]
    assert body["unread_count"] == 1
    assert not Notification.objects.filter(recipient=charlie).exists()
    profile.unblock(blocker=alice, blocked_id=charlie.id)
    assert as_alice.get(FEED)["notifications"] == body["notifications"]
    assert Occurrence.objects.count() == 1


def test_a_row_that_slipped_in_beside_the_block_is_not_shown(as_alice, alice, bob, charlie, like):
    like(charlie, alice, 8)
    like(bob, alice, 7)
    hidden = Notification.objects.get(actor=bob)
    Block.objects.create(blocker=bob, blocked=alice)
    body = as_alice.get(FEED)
    assert [row["actor"]["id"] for row in body["notifications"]] == [charlie.id]
    assert body["unread_count"] == 1
    assert as_alice.get(f"{FEED}/unread-count")["unread_count"] == 1
    assert selectors.notifications_for(alice.id, [hidden.id]) == {}
    as_alice.post(f"{FEED}/{hidden.id}/read", status=404)
    as_alice.delete(f"{FEED}/{hidden.id}", status=404)


def test_a_push_is_asked_again_when_it_is_sent(alice, bob, like):
    like(bob, alice)
    row = Notification.objects.get()
    assert push_content(row) is not None
    Block.objects.create(blocker=alice, blocked=bob)
    assert push_content(row) is None


@pytest.mark.parametrize("change", [{"likes": False}, {"enabled": False}, {"quiet_mode": True}])
def test_a_push_follows_the_preferences_of_the_moment_it_is_sent(as_alice, alice, bob, like, change):
    like(bob, alice)
    row = Notification.objects.get()
    as_alice.patch(f"{FEED}/preferences", change)
    assert push_content(row) is None


def test_no_push_for_what_was_read_or_for_an_account_that_staff_blocks(as_alice, alice, bob, like):
    like(bob, alice, 7)
    row = Notification.objects.get()
    as_alice.post(f"{FEED}/read-all")
    assert push_content(row) is None
    like(bob, alice, 8)
    row = Notification.objects.get(is_read=False)
    assert push_content(row) is not None
    alice.blocked_at = timezone.now()
    alice.save()
    assert push_content(row) is None


class TestSignalDoor:
    def send(self, alice, bob, **changes):
        values = {
            "action": "create",
            "kind": "post_like",
            "recipient_id": alice.id,
            "actor_id": bob.id,
            "target_id": 7,
            "title": "Tea",
        }
        social_event_happened.send(object, **(values | changes))

    def test_an_app_of_the_same_process_may_create_and_retract(self, as_alice, alice, bob):
        self.send(alice, bob)
        assert as_alice.get(FEED)["notifications"][0]["target"] == {"type": "post", "id": 7, "title": "Tea"}
        self.send(alice, bob, action="retract")
        assert as_alice.get(FEED)["notifications"] == []

    @pytest.mark.parametrize("changes", [{"kind": "post_hate"}, {"action": "undo"}])
    def test_its_mistakes_reach_the_sender(self, alice, bob, changes):
        with pytest.raises((KeyError, ValueError)):
            self.send(alice, bob, **changes)
