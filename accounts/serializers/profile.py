"""Serializers of profile, privacy and blocks."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from accounts.models import Block, User
from accounts.serializers.people import PersonSerializer, avatar_url, hidden_card, user_card
from core.fields import IdField, LanguageField, NameField, StrictBooleanField, TextField

PRIVACY = ("who_can_message", "read_receipts", "show_last_seen", "relay_calls")


class NewLanguageField(LanguageField):
    """A new language; without the key nothing changes."""

    def run_validation(self, data: Any = empty) -> Any:
        if data is empty:
            raise SkipField
        return super().run_validation(data)


class ProfileInput(serializers.Serializer):
    username = TextField(required=False)
    first_name = NameField(required=False)
    last_name = NameField(required=False, allow_blank=True)
    bio = TextField(required=False, allow_null=True, allow_blank=True, max_length=500)
    language = NewLanguageField()

    def validate_bio(self, value: str | None) -> str | None:
        return None if value is None else value.strip()


class ProfileSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.EmailField()
    first_name = serializers.CharField()
    last_name = serializers.CharField(allow_blank=True)
    bio = serializers.CharField(allow_null=True, allow_blank=True)
    avatar_url = serializers.CharField(allow_null=True)
    language = serializers.CharField()
    is_verified = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class ProfileOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    profile = ProfileSerializer()


class PrivacyInput(serializers.Serializer):
    """Missing keys change nothing."""

    who_can_message = serializers.ChoiceField(User.WhoCanMessage.choices, required=False)
    read_receipts = StrictBooleanField(required=False)
    show_last_seen = StrictBooleanField(required=False)
    relay_calls = StrictBooleanField(required=False)


class PrivacySerializer(serializers.Serializer):
    who_can_message = serializers.ChoiceField(User.WhoCanMessage.choices)
    read_receipts = serializers.BooleanField()
    show_last_seen = serializers.BooleanField()
    relay_calls = serializers.BooleanField()


class PrivacyOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    privacy = PrivacySerializer()


class BlockInput(serializers.Serializer):
    user_id = IdField()


class BlockSerializer(serializers.Serializer):
    user_id = serializers.IntegerField()
    user = PersonSerializer()
    created_at = serializers.DateTimeField()


class BlockOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    block = BlockSerializer()


class BlocksOutput(serializers.Serializer):
    ok = serializers.BooleanField()
    blocks = BlockSerializer(many=True)
    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)


def profile_of(user: User) -> dict[str, Any]:
    """The user's own profile, as GET and PATCH /profile return it."""
    return {
        "id": user.id,
        "username": user.username,
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "bio": user.bio,
        "avatar_url": avatar_url(user),
        "language": user.language,
        "is_verified": user.is_verified,
        "created_at": user.created_at,
    }


def privacy_of(user: User) -> dict[str, Any]:
    """The four privacy settings."""
    return {name: getattr(user, name) for name in PRIVACY}


def block_of(block: Block) -> dict[str, Any]:
    """One entry of the list of blocked users; the row comes from `selectors.blocks_made_by`."""
    is_hidden: bool = block.card_is_hidden  # type: ignore[attr-defined]
    return {
        "user_id": block.blocked_id,
        "user": hidden_card(block.blocked_id) if is_hidden else user_card(block.blocked),
        "created_at": block.created_at,
    }
