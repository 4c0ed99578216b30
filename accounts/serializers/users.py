"""Serializers of users: what others see of them, and their own account, profile, privacy and blocks."""

from typing import Any

from rest_framework import serializers

from accounts.media import media_path
from accounts.models import Block, User
from accounts.sql import PersonRow
from core.serializers import IdField, LanguageField, NameField, OkReply, PageReply, StrictBooleanField, TextField
from core.text import language_tag


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
            "is_verified": user.has_verified_email,
        }


class FullAccount(AccountOutput):
    """What the two shapes below share."""

    bio = serializers.CharField(allow_null=True)
    avatar_url = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, user: User) -> dict[str, Any]:
        return super().render(user) | {"bio": user.bio, "avatar_url": avatar_url(user), "created_at": user.created_at}


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
        return super().render(user) | {"language": language_tag(user.language)}


class MeReply(OkReply):
    user = OwnAccountOutput()


class NoticeReply(OkReply):
    message = serializers.CharField()


class SignInReply(OkReply):
    token = serializers.CharField()
    user = AccountOutput()

    @classmethod
    def render(cls, user: User, token: str, **more: Any) -> dict[str, Any]:
        """`more` are the fields that a subclass adds."""
        return {"token": token, "user": AccountOutput.render(user), **more}


class UpdateProfileInput(serializers.Serializer):
    username = TextField(required=False)
    first_name = NameField(required=False)
    last_name = NameField(required=False)
    bio = TextField(required=False, allow_null=True, allow_blank=True, max_length=500)
    language = LanguageField()

    def validate_bio(self, value: str | None) -> str | None:
        return None if value is None else value.strip()


class ProfileReply(OkReply):
    profile = ProfileSerializer()


class UpdatePrivacyInput(serializers.Serializer):
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
        return {name: getattr(user, name) for name in cls().get_fields()}


class PrivacyReply(OkReply):
    privacy = PrivacySerializer()


class BlockUserInput(serializers.Serializer):
    user_id = IdField()


class BlockSerializer(serializers.Serializer):
    user_id = serializers.IntegerField()
    user = PersonSerializer()
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, block: Block) -> dict[str, Any]:
        """The row comes from `selectors.blocks_page`. Of a hidden user it shows the id only."""
        is_hidden: bool = block.card_is_hidden  # type: ignore[attr-defined]
        user = PersonRow(block.blocked_id, "", "", "", "") if is_hidden else block.blocked
        return {"user_id": block.blocked_id, "user": PersonSerializer.render(user), "created_at": block.created_at}


class BlockReply(OkReply):
    block = BlockSerializer()


class BlocksReply(PageReply):
    blocks = BlockSerializer(many=True)


class SetAvatarInput(serializers.Serializer):
    # The content determines the type; an empty file is an invalid image, not a missing one.
    file = serializers.FileField(allow_empty_file=True)


class AvatarReply(OkReply):
    avatar_url = serializers.CharField(allow_null=True)
