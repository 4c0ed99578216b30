"""The feed: adding, retracting and reading notifications. All entry points call the same functions."""

from notifications.services.feed.messages import conversation_read, message_arrived, message_withdrawn
from notifications.services.feed.rows import (
    change_preferences,
    delete,
    mark_all_read,
    mark_read,
    remove_user,
    remove_users_from_each_others_feed,
)
from notifications.services.feed.social import EventResult, apply_event, notify, retract
