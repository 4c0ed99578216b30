"""When somebody was last there, as the live wire notices it."""

from datetime import datetime

from accounts.models import User


def note(*, user_id: int, at: datetime) -> None:
    """Writes down that this person was there until `at`."""
    User.objects.filter(id=user_id).update(last_seen_at=at)
