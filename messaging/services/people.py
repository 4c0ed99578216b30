"""Find somebody to write to."""

from typing import TYPE_CHECKING, Any

from accounts import selectors as people
from accounts.exceptions import EmailNotVerified
from accounts.serializers import user_card
from messaging.services import rates

if TYPE_CHECKING:
    from accounts.models import User


def search(*, viewer: "User", q: str, limit: int) -> list[dict[str, Any]]:
    """Cards of people whose username or name starts like this. EmailNotVerified, RateLimited."""
    if not viewer.is_verified:
        raise EmailNotVerified
    rates.check("search_people", viewer.id)
    return [user_card(user) for user in people.search_people(viewer, q, limit)]
