"""Each rule on the feed and on deliveries means the same to a QuerySet and to a hand-written statement."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Block, Session, User
from notifications import selectors
from notifications.models import Delivery, Device, Notification
from notifications.services import feed, social
from notifications.services.delivery.push_handler import _targets
from notifications.services.delivery.push_messages import push_contents
from tests.factories import sign_in

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("direction", ["none", "made", "met"])
@pytest.mark.parametrize("is_read", [False, True])
def test_visible_and_unread_rows(alice, bob, charlie, direction, is_read, django_assert_num_queries):
    for recipient in (alice, charlie):
        social.notify(kind="follow", recipient_id=recipient.id, actor_id=bob.id)
    row = Notification.objects.get(recipient=alice)
    if is_read:
        feed.mark_read(user_id=alice.id, notification_id=row.id)
    if direction != "none":
        blocker, blocked = (alice, bob) if direction == "made" else (bob, alice)
        Block.objects.create(blocker=blocker, blocked=blocked)
    visible = {row.id} if direction == "none" else set()
    unread = set() if is_read else visible
    with django_assert_num_queries(6):
        assert set(Notification.objects.visible_to(alice.id).values_list("id", flat=True)) == visible
        assert selectors.notifications_for(alice.id, [row.id]).keys() == visible
        assert {row.id for row in selectors.feed_page(viewer_id=alice.id, limit=9, unread_only=True)[0]} == unread
        assert selectors.unread_count(alice.id) == len(unread)
        assert selectors.unread_counts([alice.id]) == ({alice.id: 1} if unread else {})
        assert bool(push_contents([(row.id, "en")])) is bool(unread)


@pytest.mark.parametrize(("until", "is_notified"), [(None, False), (HOUR, False), (-HOUR, True)])
def test_a_recipient_blocked_by_staff(alice, bob, until, is_notified):
    now = timezone.now()
    User.objects.filter(id=alice.id).update(blocked_at=now - 2 * HOUR, blocked_until=now + until if until else None)
    social.notify(kind="follow", recipient_id=alice.id, actor_id=bob.id)
    feed.message_arrived(recipient_id=alice.id, sender_id=bob.id, conversation_id=1, message_id=1, at=now)
    kinds = {"follow", "message"} if is_notified else set()
    assert set(Notification.objects.values_list("kind", flat=True)) == kinds


@pytest.mark.parametrize("state", ["live", "ended", "expired", "token expired", "blocked"])
def test_whether_a_device_may_be_reached(alice, state, django_assert_num_queries):
    now = timezone.now()
    device = Device.objects.create(user=alice, session=sign_in(alice)[0], registration_id="t", token_digest="d")
    change = {"ended": "ended_at", "expired": "expires_at", "token expired": "token_expires_at"}
    if state in change:
        Session.objects.update(**{change[state]: now - HOUR})
    if state == "blocked":
        User.objects.update(blocked_at=now)
    with django_assert_num_queries(1):
        target = _targets({device.id})[device.id]
    assert (target.is_signed_in, target.is_owner_active) == (state not in change, state != "blocked")


def test_due_deliveries(django_assert_num_queries):
    now = timezone.now()
    rows = {
        "due": {},
        "later": {"due_at": now + HOUR},
        "expired": {"expires_at": now},
        "sent": {"state": Delivery.State.SENT},
    }
    for name, values in rows.items():
        values = {"due_at": now - HOUR, "expires_at": now + HOUR} | values
        Delivery.objects.create(channel="push", kind="test", dedupe_key=name, **values)
    assert [row.dedupe_key for row in Delivery.objects.due(now)] == ["due"]
    assert Delivery.objects.pending().count() == 3
    with django_assert_num_queries(1):
        assert selectors.delivery_lag_seconds() >= HOUR.total_seconds()
