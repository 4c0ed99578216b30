"""Serializers of users: for others, and of their own account, profile, privacy and blocks."""

from typing import Any

from rest_framework import serializers

from accounts.conf import BIO_LENGTH, USERNAME_LENGTHS
from accounts.fields import LanguageField, NameField
from accounts.images.access import media_path
from accounts.models import Block, User
from accounts.sql import PersonRow
from accounts.tokens import SessionToken
from core.api.serializers import (
    IdField,
    OkReply,
    OptionalTextField,
    PageReply,
    PictureField,
    StrictBooleanField,
    TextField,
)
from core.api.shapes import Shape
from core.languages import language_tag


class LanguageTagField(serializers.CharField):
    """In replies: the language of a user as a BCP 47 tag."""

    render = staticmethod(language_tag)


class MediaPathField(serializers.CharField):
    """In replies: the signed path of an image, from its token; null without one."""

    def __init__(self, *, thumb: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._thumb = thumb

    def render(self, token: str | None) -> str | None:
        return media_path(token, thumb=self._thumb) if token else None


class PersonSerializer(Shape):
    """Section 2.2 of the contract: a user as others see them."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    first_name = serializers.CharField()
    last_name = serializers.CharField(allow_blank=True)
    avatar_url = MediaPathField(source="avatar_token", allow_null=True)


class PersonProfileOutput(PersonSerializer):
    """A user as others see them on a page of their own."""

    bio = serializers.CharField(allow_null=True)


class AccountOutput(Shape):
    """Section 2.1 of the contract: the user who has just signed in."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    email = serializers.EmailField()
    first_name = serializers.CharField()
    last_name = serializers.CharField()
    is_verified = serializers.BooleanField(source="has_verified_email")


class FullAccount(AccountOutput):
    """The common fields of the two shapes below."""

    bio = serializers.CharField(allow_null=True)
    avatar_url = MediaPathField(source="avatar_token", allow_null=True)
    created_at = serializers.DateTimeField()


class OwnAccountOutput(FullAccount):
    """Section 2.1 with what `me` adds."""

    is_admin = serializers.BooleanField(source="is_staff")


class ProfileSerializer(FullAccount):
    """The user's own profile, as GET and PATCH /profile return it."""

    language = LanguageTagField()


class MeReply(OkReply):
    user = OwnAccountOutput()


class NoticeReply(OkReply):
    message = serializers.CharField()


class TokenReply(OkReply, Shape):
    """A session token. Every reply with one is a subclass."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField(help_text="The token expires then. Refresh it before.")

    @classmethod
    def of_token(cls, token: str, **more: Any) -> dict[str, Any]:
        """`more` are the fields that a subclass adds."""
        return cls.build(None, token=token, expires_at=SessionToken(token).expires_at, **more)


class SignInReply(TokenReply):
    user = AccountOutput()

    @classmethod
    def render(cls, user: User, token: str, **more: Any) -> dict[str, Any]:
        """`more` are the fields that a subclass adds."""
        return cls.of_token(token, user=AccountOutput.render(user), **more)


class UpdateProfileInput(serializers.Serializer):
    username = TextField(required=False, limits={"minLength": USERNAME_LENGTHS[0], "maxLength": USERNAME_LENGTHS[1]})
    first_name = NameField(required=False)
    last_name = NameField(required=False)
    bio = OptionalTextField(max_length=BIO_LENGTH)
    language = LanguageField()


class ProfileReply(OkReply):
    profile = ProfileSerializer()


class UpdatePrivacyInput(serializers.Serializer):
    """Missing keys change nothing."""

    who_can_message = serializers.ChoiceField(User.WhoCanMessage.choices, required=False)
    read_receipts = StrictBooleanField(required=False)
    show_last_seen = StrictBooleanField(required=False)
    relay_calls = StrictBooleanField(required=False)


class PrivacySerializer(Shape):
    who_can_message = serializers.ChoiceField(User.WhoCanMessage.choices)
    read_receipts = serializers.BooleanField()
    show_last_seen = serializers.BooleanField()
    relay_calls = serializers.BooleanField()


class PrivacyReply(OkReply):
    privacy = PrivacySerializer()


class BlockUserInput(serializers.Serializer):
    user_id = IdField()


class BlockSerializer(Shape):
    user_id = serializers.IntegerField(source="blocked_id")
    user = PersonSerializer()
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, block: Block) -> dict[str, Any]:
        """`block` comes from `selectors.blocks_page`. A hidden user is shown by id only."""
        is_hidden: bool = block.card_is_hidden  # type: ignore[attr-defined]
        user = PersonRow(block.blocked_id, "", "", "", "") if is_hidden else block.blocked
        return cls.build(block, user=PersonSerializer.render(user))


class BlockReply(OkReply):
    block = BlockSerializer()


class BlocksReply(PageReply):
    blocks = BlockSerializer(many=True)


class SetAvatarInput(serializers.Serializer):
    file = PictureField()


class AvatarReply(OkReply, Shape):
    avatar_url = MediaPathField(source="avatar_token", allow_null=True)
