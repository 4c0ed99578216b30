"""Metrics of the delivery queue."""

from django.db.models import Count, Min
from django.utils import timezone

from notifications.models import Delivery


def delivery_lag_seconds() -> float:
    """How long the oldest due mail or push has been waiting; 0 when nothing waits."""
    now = timezone.now()
    oldest = Delivery.objects.due(now).aggregate(at=Min("due_at"))["at"]
    return (now - oldest).total_seconds() if oldest else 0.0


def deliveries_by_state() -> dict[tuple[str, str], int]:
    """Rows of the queue and its log by channel and state."""
    rows = Delivery.objects.values_list("channel", "state").annotate(number=Count("id")).order_by()
    return {(channel, state): number for channel, state, number in rows}
