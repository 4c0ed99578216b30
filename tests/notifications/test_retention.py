"""What is old goes, in batches, and nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.services import export
from core.database import deletion
from core.database.deletion import run_first_batches
from notifications.models import Delivery, Device, IngestedEvent, Notification, Occurrence
from notifications.services import devices, feed, purge
from tests.factories import sign_in

pytestmark = pytest.mark.django_db


def run_purge(batch=1000):
    return run_first_batches(purge.jobs(timezone.now(), batch))


def test_nothing_recent_is_deleted(alice, bob, like):
    session, _ = sign_in(alice)
    devices.register(user_id=alice.id, session_id=session.id, token="abc")
    like(bob, alice)
    IngestedEvent.objects.create(source="blog", event_id="1", digest="")
    assert run_purge() == {"notifications": 0, "events": 0, "devices": 0, "deliveries": 0}
    assert [model.objects.count() for model in (Notification, Occurrence, IngestedEvent, Device, Delivery)] == [1] * 5


@pytest.mark.parametrize(
    ("days", "is_read", "stays"),
    [(89, True, True), (91, True, False), (91, False, True), (179, False, True), (181, False, False)],
)
def test_read_rows_for_ninety_days_and_unread_ones_for_twice_that(alice, bob, like, days, is_read, stays):
    like(bob, alice, occurred_at=timezone.now() - timedelta(days=days))
    if is_read:
        feed.mark_all_read(user_id=alice.id, until=timezone.now())
    assert run_purge()["notifications"] == (0 if stays else 1)
    assert (Notification.objects.count(), Occurrence.objects.count()) == ((1, 1) if stays else (0, 0))


def test_a_feed_keeps_its_newest_rows(alice, bob, charlie, like, settings):
    settings.NOTIFICATIONS_KEEP_PER_USER = 5
    for post_id in range(1, 9):
        like(bob, alice, post_id)
    like(bob, charlie, 1)
    assert run_purge(batch=2)["notifications"] == 2
    assert run_purge()["notifications"] == 1
    assert run_purge()["notifications"] == 0
    remaining = Notification.objects.filter(recipient=alice).values_list("target_id", flat=True)
    assert set(remaining) == {4, 5, 6, 7, 8}
    assert Notification.objects.filter(recipient=charlie).count() == 1


def test_events_after_a_week_devices_after_nine_months_deliveries_after_two_weeks(alice, bob, like):
    now = timezone.now()
    session, _ = sign_in(alice)
    for number in range(3):
        devices.register(user_id=alice.id, session_id=session.id, token=f"token-{number}")
        IngestedEvent.objects.create(source="blog", event_id=str(number), digest="")
    like(bob, alice)
    Device.objects.filter(registration_id="token-0").update(last_seen_at=now - timedelta(days=271))
    IngestedEvent.objects.filter(event_id="0").update(created_at=now - timedelta(days=8))
    done = Delivery.objects.filter(device__registration_id="token-1")
    done.update(state="sent", finished_at=now - timedelta(days=15))
    assert run_purge() == {"notifications": 0, "events": 1, "devices": 1, "deliveries": 1}
    assert run_purge() == {"notifications": 0, "events": 0, "devices": 0, "deliveries": 0}


def test_batches_are_kept_small(alice):
    IngestedEvent.objects.bulk_create(
        IngestedEvent(source="blog", event_id=str(number), digest="", created_at=timezone.now() - timedelta(days=9))
        for number in range(7)
    )
    assert [run_purge(batch=3)["events"] for _ in range(4)] == [3, 3, 1, 0]


@pytest.mark.parametrize("kind", ["notifications", "events", "deliveries"])
def test_what_is_used_again_during_the_purge_stays(kind, alice, bob, like, device_of, monkeypatch):
    device_of(alice)
    like(bob, alice)
    IngestedEvent.objects.create(source="blog", event_id="1", digest="")
    now, long_ago = timezone.now(), timezone.now() - timedelta(days=200)
    Notification.objects.update(created_at=long_ago)
    IngestedEvent.objects.update(created_at=long_ago)
    Delivery.objects.update(state="cancelled", finished_at=long_ago)
    select = deletion.batches_to_delete

    def use_again(rows, batch):
        for ids in select(rows, batch):
            Notification.objects.update(created_at=now)
            IngestedEvent.objects.update(created_at=now)
            Delivery.objects.update(state="pending", finished_at=None)
            yield ids

    for module in (deletion, purge):
        monkeypatch.setattr(module, "batches_to_delete", use_again)
    assert sum(purge.jobs(now, 10)[kind]) == 0
    assert [model.objects.count() for model in (Notification, Occurrence, IngestedEvent, Delivery)] == [1] * 4


def test_the_export_holds_the_feed_without_whole_tokens(alice, bob, like):
    import json
    import zipfile

    session, _ = sign_in(alice)
    devices.register(user_id=alice.id, session_id=session.id, token="super-secret-token")
    like(bob, alice)
    with export.archive(user_id=alice.id) as file, zipfile.ZipFile(file) as zipped:
        files = {
            name.removeprefix("notifications/"): json.loads(zipped.read(name))
            for name in zipped.namelist()
            if name.startswith("notifications/")
        }
    assert set(files) == {"feed.json", "preferences.json", "devices.json", "deliveries.json"}
    assert files["feed.json"][0]["actor"]["id"] == bob.id
    assert files["devices.json"][0]["token"] == "…-token"
    assert "super-secret" not in str(files)
    assert len(files["deliveries.json"]) == 1
