"""The last time a user was online, reported by the real-time channel."""

from datetime import datetime

from accounts.models import User


def note(*, user_id: int, at: datetime) -> None:
    """Stores that the user was online until `at`."""
    User.objects.filter(id=user_id).update(last_seen_at=at)
