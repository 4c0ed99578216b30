"""Messages by time. The table has no index on `created_at`; ids grow with time, and the primary key finds them."""

from datetime import datetime

from django.db.models import Max

from messaging.models import Message


def first_id_since(start: datetime) -> int:
    """An id from which on all messages are, that were sent at `start` or later: a bisection of the primary key."""
    low, high = 0, (Message.objects.aggregate(id=Max("id"))["id"] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = Message.objects.filter(id__gte=middle).order_by("id").values_list("id", "created_at").first()
        if row is None or row[1] >= start:
            high = middle
        else:
            low = row[0] + 1
    return low
