"""People as JSON."""

from typing import Any

from accounts.images import media_path
from accounts.models import User


def avatar_url(user: User) -> str | None:
    """The path of a person's picture, signed for an `<img>`, or None without one."""
    return media_path(user.avatar_token) if user.avatar_token else None


def user_card(user: User) -> dict[str, Any]:
    """Section 2.2 of the contract: what anybody may see of a person."""
    return {
        "id": user.id,
        "username": user.username,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "avatar_url": avatar_url(user),
    }
