"""Find somebody to write to."""

from typing import TYPE_CHECKING

from accounts import ratelimits
from accounts import selectors as people
from accounts.exceptions import EmailNotVerified

if TYPE_CHECKING:
    from accounts.models import User


def search(*, viewer: "User", q: str, limit: int) -> list["User"]:
    """People whose username or name starts like this. EmailNotVerified, RateLimited."""
    if not viewer.is_verified:
        raise EmailNotVerified
    ratelimits.check("search_people", viewer.id)
    return people.search_people(viewer, q, limit)
