"""Many at once, on both databases: nothing lost, nothing doubled, every number right."""

import random
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.exceptions import AccountBlocked, TokenRevoked
from accounts.models import User
from accounts.services import account_status, profile
from accounts.services.erasure import erase, erase_due
from accounts.sign_in import sessions
from messaging.selectors import conversations_for, message_unread_count
from messaging.services import conversations, messages
from notifications import selectors
from notifications.models import Delivery, Device, Notification, Occurrence
from notifications.services import delivery, devices, feed, purge
from notifications.services.delivery import claims
from tests.factories import make_user, sign_in
from tests.parallel import is_free_while, parallel_outcomes
from tests.server import ON_POSTGRES

pytestmark = pytest.mark.django_db(transaction=True)


def failures(results):
    return [result for result in results if isinstance(result, BaseException)]


def test_sixteen_first_likes_at_once_make_one_row(alice, like):
    fans = [make_user(f"Fan{number}") for number in range(16)]
    results = parallel_outcomes(16, lambda index: str(like(fans[index], alice)))
    assert sorted(map(str, results)) == ["aggregated"] * 15 + ["created"]
    row = Notification.objects.get()
    assert (row.count, row.occurrences.count()) == (16, 16)
    assert row.actor_id == row.occurrences.order_by("-occurred_at", "-id").first().actor_id


def test_one_person_liking_eight_times_at_once_counts_once(alice, bob, like):
    results = parallel_outcomes(8, lambda index: str(like(bob, alice)))
    assert sorted(map(str, results)) == ["aggregated"] * 7 + ["created"]
    assert Notification.objects.get().count == Occurrence.objects.count() == 1


def test_one_like_is_taken_back_once(alice, bob, charlie, like, unlike):
    like(bob, alice)
    like(charlie, alice)
    results = parallel_outcomes(8, lambda index: str(unlike(charlie, alice)))
    assert sorted(map(str, results)) == ["not_found"] * 7 + ["retracted"]
    row = Notification.objects.get()
    assert (row.count, row.actor_id) == (1, bob.id)


def test_random_actors_leave_every_number_right(alice, like, unlike):
    fans = [make_user(f"Fan{number}") for number in range(6)]

    def act(index):
        chance = random.Random(index)
        for _ in range(25):
            post_id = chance.choice((7, 8))
            fan = chance.choice(fans)
            deed = chance.random()
            if deed < 0.55:
                like(fan, alice, post_id)
            elif deed < 0.9:
                unlike(fan, alice, post_id)
            else:
                feed.mark_all_read(user_id=alice.id, until=timezone.now())

    assert failures(parallel_outcomes(6, act)) == []
    for row in Notification.objects.all():
        latest = row.occurrences.order_by("-occurred_at", "-id").first()
        assert row.count == row.occurrences.count() > 0
        assert (row.actor_id, row.created_at) == (latest.actor_id, latest.occurred_at)
    for post_id in (7, 8):
        assert Notification.objects.filter(target_id=post_id, is_open=True).count() <= 1
    unread = Notification.objects.filter(is_read=False).count()
    assert selectors.unread_count(alice.id) == unread


def test_a_block_during_a_shower_of_likes_hides_the_person(alice, bob, charlie, like):
    def act(index):
        if index == 0:
            profile.block(blocker=alice, blocked_id=bob.id)
        else:
            for post_id in range(1, 9):
                like(bob if index % 2 else charlie, alice, post_id)

    assert failures(parallel_outcomes(5, act)) == []
    rows, _ = selectors.feed_page(viewer_id=alice.id, limit=50)
    assert bob.id not in {row.actor.id for row in rows}
    assert selectors.unread_count(alice.id) == len(rows) == 8
    assert not Notification.objects.filter(actor=bob).exists()
    assert not Occurrence.objects.filter(actor=bob).exists()


def test_messages_and_reading_at_once_agree_in_the_end(alice, bob):
    talk = conversations.start(starter=alice, user_id=bob.id)[0].id
    session, _ = sign_in(bob)
    devices.register(user_id=bob.id, session_id=session.id, token="abc")

    def act(index):
        for _ in range(8):
            if index == 0:
                conversations.mark_read(reader_id=bob.id, conversation_id=talk)
            else:
                messages.send(sender=alice, conversation_id=talk, body="hello")

    assert failures(parallel_outcomes(4, act)) == []
    unread = conversations_for(bob.id, [talk])[talk].unread_count
    assert unread == message_unread_count(bob.id)
    rows = Notification.objects.filter(recipient=bob, is_read=False)
    assert [row.count for row in rows] == ([unread] if unread else [])
    assert Delivery.objects.filter(state="pending", kind="message").count() <= 1


def test_what_is_announced_to_a_device_survives_its_removal(alice, bob, like, device_of):
    started, _ = conversations.start(starter=alice, user_id=bob.id)
    for number in range(10):
        tokens = [f"token-{number}-{index}" for index in range(3)]
        for token in tokens:
            device_of(bob, token)
        jobs = [lambda token=token: devices.remove(user_id=bob.id, token=token) for token in tokens]
        jobs += [lambda: messages.send(sender=alice, conversation_id=started.id, body="Tea?")] * 2
        jobs += [lambda post_id=100 + number: like(alice, bob, post_id)]
        jobs += [lambda: delivery.enqueue_test_push(recipient_id=bob.id)] * 2
        assert failures(parallel_outcomes(len(jobs), lambda index, jobs=jobs: jobs[index]())) == []
    assert message_unread_count(bob.id) == 20


@pytest.mark.parametrize("act", [feed.mark_read, feed.delete])
def test_a_row_is_read_or_removed_while_its_pushes_lose_their_devices(act, alice, bob, like, device_of):
    for number in range(20):
        tokens = [f"token-{number}-{index}" for index in range(3)]
        for token in tokens:
            device_of(bob, token)
        like(alice, bob, 100 + number)
        row = Notification.objects.get(target_id=100 + number)
        jobs = [lambda token=token: devices.remove(user_id=bob.id, token=token) for token in tokens]
        jobs += [lambda row=row: act(user_id=bob.id, notification_id=row.id)]
        assert failures(parallel_outcomes(len(jobs), lambda index, jobs=jobs: jobs[index]())) == []
    assert set(Delivery.objects.values_list("state", "device_id")) == {("cancelled", None)}


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
@pytest.mark.parametrize("act", ["finish", "read", "delete", "delete-sent", "remove-devices"])
def test_deliveries_are_locked_in_the_order_of_their_ids(act, alice, bob, like, device_of):
    """A worker that stores its results and a reader who changes the same rows would wait for each other."""
    for _ in range(2):
        device_of(bob)
    like(alice, bob)
    row = Notification.objects.get()
    first, second = Delivery.objects.order_by("id")
    claimed = claims.claim(channel="push", limit=2) if act == "finish" else []
    if act == "delete-sent":
        Delivery.objects.update(state=Delivery.State.SENT)
    # Now the first row is the last one of the table.
    Delivery.objects.filter(id=first.id).update(finished_at=timezone.now())
    jobs = {
        "finish": lambda: claims.finish([one.result("sent") for one in sorted(claimed, key=lambda one: -one.id)]),
        "read": lambda: feed.mark_read(user_id=bob.id, notification_id=row.id),
        "remove-devices": lambda: devices.remove_all(user_id=bob.id),
    }
    assert is_free_while(jobs.get(act, lambda: feed.delete(user_id=bob.id, notification_id=row.id)), first, second)
    # But what takes away the pushes that were shown.
    assert not Delivery.objects.filter(state__in=["pending", "leased"]).exclude(kind="read").exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_new_pushes_lock_the_deliveries_they_join_in_the_order_of_their_ids(alice, bob, charlie, like, device_of):
    for _ in range(2):
        device_of(bob)
    like(alice, bob)
    claims.claim(channel="push", limit=1)
    # The first device has no waiting push any more, so its next one is newer than that of the second device.
    like(charlie, bob)
    feed.mark_read(user_id=bob.id, notification_id=Notification.objects.get().id)
    second, first = Delivery.objects.filter(state="cancelled").order_by("id")
    assert first.device_id < second.device_id
    assert is_free_while(lambda: like(alice, bob), second, first)
    assert Delivery.objects.filter(state="pending", kind="post_like").count() == 2


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_the_end_of_a_call_locks_devices_before_their_deliveries(bob, device_of):
    """As a registration does."""
    rung, waiting = device_of(bob), device_of(bob)
    later = timezone.now() + timedelta(seconds=30)
    delivery.enqueue_call_push(recipient_id=bob.id, data={"type": "incoming_call", "call_id": "7"}, expires_at=later)
    Delivery.objects.filter(device=rung).update(state=Delivery.State.SENT)
    ring = Delivery.objects.get(device=waiting)

    @transaction.atomic
    def end():
        ended = {"type": "call_ended", "call_id": "7"}
        delivery.enqueue_call_push(recipient_id=bob.id, data=ended, expires_at=later)

    assert is_free_while(end, rung, ring)
    ring.refresh_from_db()
    assert ring.state == "cancelled"


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_an_erasure_locks_devices_before_their_deliveries(bob, device_of):
    device = device_of(bob)
    delivery.enqueue_test_push(recipient_id=bob.id)
    assert is_free_while(lambda: erase(user_id=bob.id), device, Delivery.objects.get())
    assert not Device.objects.exists() and not Delivery.objects.filter(channel="push").exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
def test_the_purge_locks_notifications_before_their_members(alice, bob, like):
    """As a retraction does."""
    like(alice, bob)
    Notification.objects.update(created_at=timezone.now() - timedelta(days=400))
    job = purge.jobs(timezone.now(), 9)["notifications"]
    assert is_free_while(lambda: next(job), Notification.objects.get(), Occurrence.objects.get())
    assert not Notification.objects.exists()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
@pytest.mark.parametrize("is_repeated", [False, True])
def test_an_erasure_locks_notifications_before_devices(is_repeated, alice, bob, like, device_of):
    """As everybody else who changes a notification. The second erasure finds what was written beside the first."""
    device = device_of(bob)
    like(alice, bob)
    if is_repeated:
        User.objects.filter(id=bob.id).update(erased_at=timezone.now())
    job = {
        False: lambda: erase(user_id=bob.id),
        True: lambda: erase_due(now=timezone.now(), batch=9),
    }[is_repeated]
    assert is_free_while(job, Notification.objects.get(), device)
    assert not Device.objects.filter(user=bob).exists() and not Notification.objects.filter(recipient=bob).exists()


def register(user, session, token, device_id=None):
    return devices.register(user_id=user.id, session_id=session.id, token=token, device_id=device_id)


def test_one_phone_registers_one_token_for_two_accounts_at_once(alice, bob):
    users = [(user, sign_in(user)[0]) for user in (alice, bob)]
    for number in range(5):
        old, new = f"old-{number}", f"new-{number}"
        for user, session in users:
            register(user, session, f"{old}-{user.id}", "phone")
        results = parallel_outcomes(4, lambda index, new=new: register(*users[index % 2], new, "phone"))
        assert failures(results) == []
        assert Device.objects.filter(registration_id=new).count() == 1


def test_a_token_is_registered_and_removed_at_once(alice):
    session, _ = sign_in(alice)

    def act(index):
        if index % 2:
            devices.remove(user_id=alice.id, token="token")
        else:
            register(alice, session, "token", f"phone-{index}")

    for _ in range(5):
        assert failures(parallel_outcomes(6, act)) == []


@pytest.mark.parametrize("ending", ["sign-out", "block"])
def test_no_device_outlives_the_session_that_registers_it(alice, ending):
    for _ in range(5):
        session, _ = sign_in(alice)

        def act(index, session=session):
            if index:
                register(alice, session, f"token-{index}")
            elif ending == "block":
                account_status.block(user=alice, reason="spam", actor="test")
            else:
                sessions.end(user=alice, session_id=session.id)

        results = parallel_outcomes(4, act)
        assert {type(failure) for failure in failures(results)} <= {TokenRevoked, AccountBlocked}
        assert not Device.objects.filter(user=alice).exists()
        account_status.unblock(user=alice, actor="test")
