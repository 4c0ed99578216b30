"""Failing deliveries of one user do not delay those of other users."""

from datetime import timedelta

import pytest
from django.utils import timezone

from notifications.models import Delivery
from notifications.services import delivery
from tests.factories import make_user
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def in_this_process(settings):
    settings.NOTIFICATIONS_NOTIFY = False
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.2
    settings.NOTIFICATIONS_PUSH_THREADS = 8


def queue_tests(device, count):
    Delivery.objects.bulk_create(
        Delivery(
            channel="push",
            kind="test",
            dedupe_key=f"test:{device.id}:{number}",
            recipient_id=device.user_id,
            device=device,
            expires_at=timezone.now() + timedelta(hours=1),
        )
        for number in range(count)
    )


def test_a_person_whose_pushes_hang_does_not_take_all_threads(fcm, worker, alice, bob, device_of):
    slow, quick = device_of(alice), device_of(bob)
    fcm.script(slow.registration_id, {"kind": "SLOW", "seconds": 3, "forever": True})
    queue_tests(slow, 60)
    queue_tests(quick, 20)
    worker()
    wait_for(lambda: len(fcm.messages(quick.registration_id)) == 20)
    assert len(fcm.requests(slow.registration_id)) <= 8
    # What came later is served, too, while the first ones still hang.
    delivery.enqueue_test_push(recipient_id=bob.id)
    wait_for(lambda: len(fcm.messages(quick.registration_id)) == 21)
    assert Delivery.objects.filter(recipient=alice).exclude(state="sent").exists()


def test_a_call_overtakes_the_persons_own_hanging_pushes(fcm, worker, alice, device_of):
    slow, phone = device_of(alice), device_of(alice)
    fcm.script(slow.registration_id, {"kind": "SLOW", "seconds": 4, "forever": True})
    queue_tests(slow, 20)
    worker()
    wait_for(lambda: Delivery.objects.filter(state="leased").exists())
    ring = {"type": "incoming_call", "call_id": "1"}
    later = timezone.now() + timedelta(seconds=60)
    delivery.enqueue_call_push(recipient_id=alice.id, data=ring, expires_at=later)
    wait_for(lambda: fcm.messages(phone.registration_id))
    assert not fcm.messages(slow.registration_id)


def test_an_unreadable_row_stops_no_other_delivery(fcm, worker, settings, alice, bob, device_of):
    settings.NOTIFICATIONS_RETRY_SECONDS = (0.1,)
    device_of(alice), device_of(bob)
    delivery.enqueue_test_push(recipient_id=alice.id)
    delivery.enqueue_test_push(recipient_id=bob.id)
    Delivery.objects.filter(recipient=alice).update(kind="incoming_call", payload={"no": "data"})
    worker()
    wait_for(lambda: Delivery.objects.filter(recipient=bob, state="sent").exists())
    row = wait_for(lambda: Delivery.objects.filter(recipient=alice, state="dead").first())
    assert "prepared" in row.last_error


def test_the_wait_of_many_deliveries_delays_no_others(fcm, worker, bob, charlie, device_of):
    people = [make_user("Pat") for _ in range(12)]
    for person in people:
        device = device_of(person)
        fcm.script(device.registration_id, {"kind": "QUOTA_EXCEEDED", "retry_after": 120})
        delivery.enqueue_test_push(recipient_id=person.id)
    worker()
    wait_for(lambda: Delivery.objects.filter(state="pending", tries=1).count() == 12)
    device = device_of(bob)
    delivery.enqueue_test_push(recipient_id=bob.id)
    wait_for(lambda: fcm.messages(device.registration_id), 5)


@pytest.mark.parametrize(
    "trouble",
    [
        {"kind": "HANG"},
        {"kind": "DROP"},
        {"kind": "QUOTA_EXCEEDED", "retry_after": 120},
        "INTERNAL",
        "HTML_502",
        "GARBAGE",
    ],
    ids=lambda trouble: trouble if isinstance(trouble, str) else trouble["kind"],
)
def test_others_are_served_while_one_is_in_trouble_and_she_is_afterwards(
    fcm, worker, settings, alice, bob, device_of, trouble
):
    settings.NOTIFICATIONS_PUSH_TIMEOUT_SECONDS = 1
    settings.NOTIFICATIONS_RETRY_SECONDS = (0.2,)
    settings.NOTIFICATIONS_TRIES = 100
    hers, his = device_of(alice), device_of(bob)
    script = {"kind": trouble} if isinstance(trouble, str) else trouble
    fcm.script(hers.registration_id, script | {"forever": True})
    queue_tests(hers, 6)
    worker()
    wait_for(lambda: Delivery.objects.filter(recipient=alice, tries__gt=0).exists())
    queue_tests(his, 20)
    delivery.enqueue_test_push(recipient_id=bob.id)
    wait_for(lambda: len(fcm.messages(his.registration_id)) == 21)
    assert not Delivery.objects.filter(recipient=alice, state="sent").exists()
    fcm.script(hers.registration_id)
    if "retry_after" in script:
        # It is kept to the second; the clock goes on here.
        wait_for(lambda: Delivery.objects.filter(recipient=alice, state="pending", tries=1).count() == 6)
        soon = timezone.now() + timedelta(seconds=60)
        assert Delivery.objects.filter(recipient=alice, due_at__gt=soon).count() == 6
        Delivery.objects.filter(recipient=alice).update(due_at=timezone.now())
    wait_for(lambda: set(Delivery.objects.values_list("state", flat=True)) == {"sent"}, 30)
    assert len(fcm.messages(hers.registration_id)) >= 6
