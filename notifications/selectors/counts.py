"""The two numbers of the badge."""

from core.database import prepared
from messaging.selectors import MESSAGE_UNREAD_COUNT
from notifications.selectors.feed import UNREAD_COUNT


def counts(user_id: int) -> dict[str, int]:
    """Unread rows of the feed and unread messages, as every reply names them. One query: clients poll it."""
    with prepared() as cursor:
        cursor.execute(f"SELECT ({UNREAD_COUNT}), ({MESSAGE_UNREAD_COUNT})", [user_id, user_id])
        of_feed, of_messages = cursor.fetchone()
    return {"unread_count": of_feed, "message_unread_count": int(of_messages)}
