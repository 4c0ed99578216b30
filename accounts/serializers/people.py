"""Serializers of other users."""

from typing import Any, NamedTuple

from rest_framework import serializers

from accounts.models import User
from core.images import media_path


class PersonRow(NamedTuple):
    """The columns of a user that a card shows, in place of a whole user."""

    id: int
    username: str
    first_name: str
    last_name: str
    avatar_token: str

    @property
    def display_name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username


def avatar_url(user: User | PersonRow) -> str | None:
    """The signed path of a user's avatar, or None without one."""
    return media_path(user.avatar_token) if user.avatar_token else None


class PersonSerializer(serializers.Serializer):
    """Section 2.2 of the contract: what other users see of a user."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    first_name = serializers.CharField()
    last_name = serializers.CharField(allow_blank=True)
    avatar_url = serializers.CharField(allow_null=True)

    @classmethod
    def render(cls, user: User | PersonRow) -> dict[str, Any]:
        return {
            "id": user.id,
            "username": user.username,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "avatar_url": avatar_url(user),
        }

    @classmethod
    def render_hidden(cls, user_id: int) -> dict[str, Any]:
        """The card of a user of whom the reader may see the id only."""
        return cls.render(PersonRow(user_id, "", "", "", ""))
