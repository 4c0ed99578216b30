"""One statement queues the pushes of an event; a group has one waiting row per device."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from notifications.models import Delivery, Device, Notification
from notifications.services import delivery, devices, feed
from notifications.services.delivery import claims, push_handler
from tests.factories import sign_in

pytestmark = pytest.mark.django_db


def make_device(user, token=None, **fields):
    session, _ = sign_in(user)
    token = token or uuid.uuid4().hex
    return Device.objects.create(
        user=user, session=session, registration_id=token, token_digest=uuid.uuid4().hex, **fields
    )


def make_row(recipient, actor, kind="message", group="9", **fields):
    return Notification.objects.create(
        recipient=recipient, actor=actor, kind=kind, group_key=group, target_id=9, **fields
    )


def push(row):
    return delivery.enqueue_push(recipient_id=row.recipient_id, notification_id=row.id)


def test_one_statement_for_all_devices(alice, bob, django_assert_num_queries):
    devices = [make_device(bob), make_device(bob)]
    make_device(bob, active=False)
    make_device(alice)
    row = make_row(bob, alice)
    with transaction.atomic(), django_assert_num_queries(1):
        assert push(row) == 2
    rows = Delivery.objects.order_by("device_id")
    assert [one.device_id for one in rows] == [device.id for device in devices]
    assert {(one.kind, one.priority, one.state, one.recipient_id) for one in rows} == {
        ("message", 2, "pending", bob.id)
    }


def test_while_one_waits_it_stands_for_the_next(alice, bob):
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    push(row)
    assert Delivery.objects.count() == 1


def test_the_second_push_of_a_group_waits_a_minute(alice, bob):
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    [first] = claims.claim(channel="push", limit=10)
    push(row)
    push(row)
    one, two = Delivery.objects.order_by("id")
    assert one.id == first.id
    assert two.due_at - one.due_at == pytest.approx(timedelta(seconds=60), abs=timedelta(seconds=1))
    assert claims.claim(channel="push", limit=10) == []


def test_of_the_pushes_that_a_group_had_the_last_one_is_read(alice, bob, monkeypatch):
    row = make_row(bob, alice)
    devices = [make_device(bob), make_device(bob)]
    for number in range(3):
        push(row)
        Delivery.objects.filter(state="pending").update(due_at=timezone.now())
        for claimed in claims.claim(channel="push", limit=10):
            claims.finish([claimed.result("sent", payload={"count": number})])
    push(row)
    Delivery.objects.filter(state="pending").update(due_at=timezone.now())
    read = []
    monkeypatch.setattr(push_handler, "_LastPush", lambda sent_at, payload: read.append(payload) or payload)
    last = push_handler._last_pushes(claims.claim(channel="push", limit=10))
    assert last == {(device.id, row.id): {"count": 2} for device in devices}
    assert len(read) == 2


def test_another_group_does_not_wait(alice, bob):
    make_device(bob)
    push(make_row(bob, alice))
    claims.claim(channel="push", limit=10)
    push(make_row(bob, alice, group="10"))
    assert len(claims.claim(channel="push", limit=10)) == 1


def test_after_reading_the_next_leaves_at_once(alice, bob):
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    claims.claim(channel="push", limit=10)
    Notification.objects.filter(id=row.id).update(is_open=False, is_read=True)
    push(make_row(bob, alice))
    assert len(claims.claim(channel="push", limit=10)) == 1


def test_after_reading_all_the_next_leaves_at_once(alice, bob):
    """Reading all cancels no push: the next one joins what still waits about the row that was read."""
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    claims.claim(channel="push", limit=10)
    push(row)
    feed.mark_all_read(user_id=bob.id, until=timezone.now())
    push(make_row(bob, alice))
    # Beside the one that takes away what was read.
    assert [row.kind for row in claims.claim(channel="push", limit=10)] == ["message", "read"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="reads the statistics of PostgreSQL")
def test_the_pushes_that_the_log_keeps_are_not_read(alice, bob):
    device = make_device(bob)
    row = make_row(bob, alice)
    now = timezone.now()
    Delivery.objects.bulk_create(
        Delivery(
            channel="push", kind="message", dedupe_key=f"sent {number}", group_key="message:9", recipient=bob,
            device=device, notification=row, state="sent", expires_at=now, due_at=now - timedelta(minutes=number),
            finished_at=now - timedelta(minutes=number, seconds=-30),
        )
        for number in range(1, 3_001)
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_delivery")
    for _ in range(12):
        # From the sixth on, PostgreSQL may use a plan for all values.
        before = rows_read("notifications_delivery")
        push(row)
    assert rows_read("notifications_delivery") - before <= 10
    [queued] = Delivery.objects.filter(state="pending")
    assert queued.due_at == now + timedelta(seconds=30)
    Delivery.objects.filter(id=queued.id).update(due_at=now)
    claimed = claims.claim(channel="push", limit=10)
    before = rows_read("notifications_delivery")
    [last] = push_handler._last_pushes(claimed).values()
    assert last.sent_at == now - timedelta(seconds=30)
    assert rows_read("notifications_delivery") - before <= 10


def rows_read(table):
    """In this transaction so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = %s", [table])
        return cursor.fetchone()[0]


def test_a_push_that_was_seen_on_the_socket_delays_no_other(alice, bob):
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    [first] = claims.claim(channel="push", limit=10)
    push(row)
    claims.finish([first.result("cancelled", "seen on the socket")])
    push(row)
    assert len(claims.claim(channel="push", limit=10)) == 1


def test_liking_and_unliking_is_one_push_a_minute(alice, bob):
    make_device(bob)
    sent = 0
    for _ in range(20):
        row = make_row(bob, alice, kind="post_like", group="post:7")
        push(row)
        sent += len(claims.claim(channel="push", limit=10))
        delivery.cancel(reason="withdrawn", notification_ids=[row.id])
        row.delete()
    assert sent == 1


def test_a_cancelled_push_can_be_asked_for_again(alice, bob):
    make_device(bob)
    row = make_row(bob, alice)
    push(row)
    assert delivery.cancel(reason="read", notification_ids=[row.id]) == 1
    assert claims.claim(channel="push", limit=10) == []
    push(row)
    assert len(claims.claim(channel="push", limit=10)) == 1


def test_a_push_of_the_former_owner_takes_none_of_the_next_one(alice, bob, charlie):
    """Both groups have the same name, and the row of the first one was canceled when the token moved."""
    device = make_device(bob)
    push(make_row(bob, charlie, kind="follow", group="all"))
    session, _ = sign_in(alice)
    Device.objects.update(token_digest=devices.token_digest(device.registration_id))
    devices.register(user_id=alice.id, session_id=session.id, token=device.registration_id)
    push(make_row(alice, charlie, kind="follow", group="all"))
    [claimed] = claims.claim(channel="push", limit=10)
    assert (claimed.device_id, claimed.recipient_id) == (device.id, alice.id)


def test_claims_serve_calls_first_and_people_in_turns(alice, bob, charlie):
    for person in (alice, bob):
        make_device(person)
    for number in range(30):
        push(make_row(bob, charlie, kind="comment", group=f"post:{number}"))
    push(make_row(alice, charlie, kind="comment", group="post:1"))
    make_device(charlie)
    call = {"type": "incoming_call", "call_id": "c1"}
    delivery.enqueue_call_push(recipient_id=charlie.id, data=call, expires_at=timezone.now() + timedelta(seconds=30))
    claimed = claims.claim(channel="push", limit=3)
    assert claimed[0].kind == "incoming_call"
    assert {row.recipient_id for row in claimed} == {alice.id, bob.id, charlie.id}


def test_call_ended_reaches_only_the_phones_that_rang(alice):
    rung, other = make_device(alice), make_device(alice)
    later = timezone.now() + timedelta(seconds=30)
    ring = {"type": "incoming_call", "call_id": "c1"}
    assert delivery.enqueue_call_push(recipient_id=alice.id, data=ring, expires_at=later) == 2
    Delivery.objects.filter(device=rung).update(state="sent")
    ended = {"type": "call_ended", "call_id": "c1", "outcome": "missed"}
    assert delivery.enqueue_call_push(recipient_id=alice.id, data=ended, expires_at=later) == 1
    states = {(row.device_id, row.kind): row.state for row in Delivery.objects.all()}
    assert states == {
        (rung.id, "incoming_call"): "sent",
        (other.id, "incoming_call"): "cancelled",
        (rung.id, "call_ended"): "pending",
    }


def test_the_death_of_workers_costs_a_row_no_try(alice, bob):
    make_device(bob)
    push(make_row(bob, alice))
    for _ in range(10):
        assert len(claims.claim(channel="push", limit=10)) == 1
        Delivery.objects.update(lease_until=timezone.now())
        claims.sweep()
    row = Delivery.objects.get()
    assert (row.state, row.tries) == ("pending", 0)
