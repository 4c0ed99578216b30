"""Serializers of the user's own account."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.people import avatar_url


def account(user: User) -> dict[str, Any]:
    """Section 2.1 of the contract: the user who has just signed in."""
    return {
        "id": user.id,
        "username": user.username,
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "is_verified": user.is_verified,
    }


def own_account(user: User) -> dict[str, Any]:
    """Section 2.1 with what `me` adds."""
    return account(user) | {
        "bio": user.bio,
        "avatar_url": avatar_url(user),
        "is_admin": user.is_staff,
        "created_at": user.created_at,
    }


class AccountOutput(serializers.Serializer):
    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.EmailField()
    first_name = serializers.CharField()
    last_name = serializers.CharField()
    is_verified = serializers.BooleanField()


class OwnAccountOutput(AccountOutput):
    bio = serializers.CharField(allow_null=True)
    avatar_url = serializers.CharField(allow_null=True)
    is_admin = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class MeOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    user = OwnAccountOutput()


class OkOutput(serializers.Serializer):
    """The reply of a write without further data."""

    ok = serializers.BooleanField()


class SentenceOutput(serializers.Serializer):
    """A reply with a sentence for the user."""

    ok = serializers.BooleanField()
    message = serializers.CharField()


class SignedInOutput(serializers.Serializer):
    """A session token and its user."""

    ok = serializers.BooleanField()
    token = serializers.CharField()
    user = AccountOutput()
