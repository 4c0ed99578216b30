"""Deletes old notifications, ingested event ids, unused devices and the delivery log."""

from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from django.db.models import Count, Q

from core.database.deletion import DeletionJobs, batches_to_delete, delete_in_batches
from core.database.transactions import lock_in_order, unit_of_work
from notifications.conf import conf
from notifications.models import Delivery, Device, IngestedEvent, Notification, Occurrence


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    old_feed = Q(created_at__lt=now - timedelta(days=conf.KEEP_DAYS)) | Q(
        is_read=True, created_at__lt=now - timedelta(days=conf.KEEP_READ_DAYS)
    )
    events = IngestedEvent.objects.filter(created_at__lt=now - timedelta(days=conf.KEEP_EVENT_DAYS))
    devices = Device.objects.filter(last_seen_at__lt=now - timedelta(days=conf.KEEP_UNSEEN_DEVICE_DAYS))
    log = Delivery.objects.filter(finished_at__lt=now - timedelta(days=conf.LOG_DAYS))
    return {
        # Finding the long feeds counts all rows, so it waits until the old ones are gone.
        "notifications": chain(
            map(partial(_delete_rows, old_feed), batches_to_delete(Notification.objects.filter(old_feed), batch)),
            iter(lambda: _purge_long_feeds(batch), 0),
        ),
        "events": delete_in_batches(events, batch),
        "devices": delete_in_batches(devices, batch),
        "deliveries": delete_in_batches(log, batch),
    }


def _purge_long_feeds(batch: int) -> int:
    """Deletes the oldest notifications of feeds above KEEP_PER_USER."""
    purged = 0
    long = (
        Notification.objects.order_by()
        .values("recipient_id")
        .annotate(rows=Count("id"))
        .filter(rows__gt=conf.KEEP_PER_USER)
        .values_list("recipient_id", flat=True)
    )
    for recipient_id in list(long[:batch]):
        feed = Notification.objects.filter(recipient_id=recipient_id).order_by("-created_at", "-id")
        last_kept = feed[conf.KEEP_PER_USER - 1 : conf.KEEP_PER_USER].first()
        if last_kept is not None and purged < batch:
            older = Q(created_at__lt=last_kept.created_at) | Q(created_at=last_kept.created_at, id__lt=last_kept.id)
            ids = feed.filter(older).order_by("id").values_list("id", flat=True)
            purged += _delete_rows(older, list(ids[: batch - purged]))
    return purged


def _delete_rows(condition: Q, ids: list[int]) -> int:
    """Deletes notifications and their occurrences in one transaction, except those that have got a new occurrence
    meanwhile. Returns how many."""
    with unit_of_work():
        # Notifications are locked before their occurrences, as in a retraction.
        ids = lock_in_order(Notification.objects.filter(condition, id__in=ids), no_key=False)
        Occurrence.objects.filter(notification_id__in=ids).delete()
        # Django reads the rows to delete what refers to them; their ids are enough for that.
        Notification.objects.filter(id__in=ids).only("id").delete()
    return len(ids)
