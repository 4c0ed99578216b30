"""The two numbers of the badge."""

from messaging.selectors import message_unread_count
from notifications.selectors.feed import unread_count


def counts(user_id: int) -> dict[str, int]:
    """Unread rows of the feed and unread messages, as every reply names them."""
    return {
        "unread_count": unread_count(user_id),
        "message_unread_count": message_unread_count(user_id),
    }
