"""Search for users."""

from typing import TYPE_CHECKING

from accounts import selectors as people
from accounts.exceptions import EmailNotVerified

if TYPE_CHECKING:
    from accounts.models import User


def search(*, viewer: "User", q: str, limit: int) -> list["User"]:
    """Users whose username or name starts with `q`. EmailNotVerified."""
    if not viewer.is_verified:
        raise EmailNotVerified
    return people.search_people(viewer, q, limit)
