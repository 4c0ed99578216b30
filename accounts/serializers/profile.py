"""Serializers of profile, privacy and blocks."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from accounts.models import Block, User
from accounts.serializers.account import ProfileSerializer
from accounts.serializers.people import PersonSerializer
from core.fields import IdField, LanguageField, NameField, StrictBooleanField, TextField
from core.serializers import OkReply, PageReply


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


class ProfileOutput(OkReply):
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

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return {
            "who_can_message": user.who_can_message,
            "read_receipts": user.read_receipts,
            "show_last_seen": user.show_last_seen,
            "relay_calls": user.relay_calls,
        }


class PrivacyOutput(OkReply):
    privacy = PrivacySerializer()


class BlockInput(serializers.Serializer):
    user_id = IdField()


class BlockSerializer(serializers.Serializer):
    user_id = serializers.IntegerField()
    user = PersonSerializer()
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, block: Block) -> dict[str, Any]:
        """The row comes from `selectors.blocks_page`."""
        is_hidden: bool = block.card_is_hidden  # type: ignore[attr-defined]
        return {
            "user_id": block.blocked_id,
            "user": (
                PersonSerializer.render_hidden(block.blocked_id)
                if is_hidden
                else PersonSerializer.render(block.blocked)
            ),
            "created_at": block.created_at,
        }


class BlockOutput(OkReply):
    block = BlockSerializer()


class BlocksOutput(PageReply):
    blocks = BlockSerializer(many=True)
