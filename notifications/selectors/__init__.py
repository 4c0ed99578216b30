"""Queries that other apps may use."""

from notifications.selectors.delivery import (
    PushContent,
    deliveries_by_state,
    delivery_lag_seconds,
    is_quiet,
    push_contents,
    quiet_ids,
)
from notifications.selectors.feed import (
    LAST_MICROSECOND,
    counts,
    feed_page,
    notifications_for,
    notifications_for_each,
    preferences_of,
    unread_count,
    unread_counts,
)

__all__ = [
    "LAST_MICROSECOND",
    "PushContent",
    "counts",
    "deliveries_by_state",
    "delivery_lag_seconds",
    "feed_page",
    "is_quiet",
    "notifications_for",
    "notifications_for_each",
    "preferences_of",
    "push_contents",
    "quiet_ids",
    "unread_count",
    "unread_counts",
]
