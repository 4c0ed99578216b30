"""Accounts as JSON."""

from typing import Any

from accounts.models import User


def user_card(user: User) -> dict[str, Any]:
    """Section 2.2 of the contract: what anybody may see of a person."""
    return {
        "id": user.id,
        "username": user.username,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "avatar_url": None,
    }
