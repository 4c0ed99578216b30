"""Serializers of the user's own account."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.people import avatar_url
from core.serializers import OkReply


class AccountOutput(serializers.Serializer):
    """Section 2.1 of the contract: the user who has just signed in."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.EmailField()
    first_name = serializers.CharField()
    last_name = serializers.CharField()
    is_verified = serializers.BooleanField()

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return {
            "id": user.id,
            "username": user.username,
            "email": user.email,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "is_verified": user.is_verified,
        }


class FullAccount(AccountOutput):
    """What the two shapes below share."""

    bio = serializers.CharField(allow_null=True)
    avatar_url = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return super().render(user) | {
            "bio": user.bio,
            "avatar_url": avatar_url(user),
            "created_at": user.created_at,
        }


class OwnAccountOutput(FullAccount):
    """Section 2.1 with what `me` adds."""

    is_admin = serializers.BooleanField()

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return super().render(user) | {"is_admin": user.is_staff}


class ProfileSerializer(FullAccount):
    """The user's own profile, as GET and PATCH /profile return it."""

    language = serializers.CharField()

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return super().render(user) | {"language": user.language}


class MeOutput(OkReply):
    user = OwnAccountOutput()


class SentenceOutput(OkReply):
    """A reply with a sentence for the user."""

    message = serializers.CharField()


class SignedInOutput(OkReply):
    """A session token and its user."""

    token = serializers.CharField()
    user = AccountOutput()
