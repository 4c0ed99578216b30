"""Serializers of other users."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from core.images import media_path


class PersonSerializer(serializers.Serializer):
    """Section 2.2 of the contract: what other users see of a user."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    first_name = serializers.CharField()
    last_name = serializers.CharField(allow_blank=True)
    avatar_url = serializers.CharField(allow_null=True)


def avatar_url(user: User) -> str | None:
    """The signed path of a user's avatar, or None without one."""
    return media_path(user.avatar_token) if user.avatar_token else None


def hidden_card(user_id: int) -> dict[str, Any]:
    """The card of a user of whom the reader may see the id only."""
    return {"id": user_id, "username": "", "first_name": "", "last_name": "", "avatar_url": None}


def user_card(user: User) -> dict[str, Any]:
    """Section 2.2 of the contract: the public data of a user."""
    return {
        "id": user.id,
        "username": user.username,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "avatar_url": avatar_url(user),
    }
