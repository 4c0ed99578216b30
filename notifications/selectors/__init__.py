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
