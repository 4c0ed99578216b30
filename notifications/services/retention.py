"""Retention: deletes old rows of the feed, ingested event ids, unused devices and the delivery log."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Count, Q, QuerySet

from core.database import delete_batch
from core.transactions import unit_of_work
from notifications.conf import conf
from notifications.models import Delivery, Device, IngestedEvent, Member, Notification


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Runs each of the jobs once; returns the number of rows of each kind."""
    return {kind: delete(batch) for kind, delete in jobs(now).items()}


def jobs(now: datetime) -> dict[str, Callable[[int], int]]:
    """For each kind of row a function that deletes at most about `batch` of them in short transactions and returns
    how many. Call it again while that is not 0. Concurrent calls are safe."""
    old_feed = Q(created_at__lt=now - timedelta(days=conf.KEEP_DAYS)) | Q(
        is_read=True, created_at__lt=now - timedelta(days=conf.KEEP_READ_DAYS)
    )
    events = IngestedEvent.objects.filter(created_at__lt=now - timedelta(days=conf.KEEP_EVENT_DAYS))
    devices = Device.objects.filter(last_seen_at__lt=now - timedelta(days=conf.KEEP_UNSEEN_DEVICE_DAYS))
    log = Delivery.objects.filter(finished_at__lt=now - timedelta(days=conf.LOG_DAYS))
    return {
        # Finding the long feeds counts all rows, so it waits until the old ones are gone.
        "notifications": lambda batch: (
            _delete_rows(Notification.objects.filter(old_feed), batch) or _purge_long_feeds(batch)
        ),
        "events": partial(delete_batch, events),
        "devices": partial(delete_batch, devices),
        "deliveries": partial(delete_batch, log),
    }


def _purge_long_feeds(batch: int) -> int:
    """Of feeds above KEEP_PER_USER rows, the oldest ones."""
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
            purged += _delete_rows(feed.filter(older), batch - purged)
    return purged


def _delete_rows(rows: QuerySet[Notification], batch: int) -> int:
    """Deletes rows of the feed and their members in one transaction; returns the number of rows."""
    with unit_of_work():
        ids = list(rows.order_by("id").values_list("id", flat=True)[:batch])
        Member.objects.filter(notification_id__in=ids).delete()
        Notification.objects.filter(id__in=ids).delete()
    return len(ids)
