"""The bodies of requests of the team's own server, and the replies."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.conf import BIO_LENGTH, DEVICE_NAME_LENGTH, EXTERNAL_ID_LENGTH, PASSWORD_LENGTH, REASON_LENGTH
from accounts.fields import AddressField, LanguageField, NameField
from accounts.serializers import ProfileSerializer
from accounts.serializers.security import SESSION_END_REASONS, NewPasswordField
from accounts.serializers.users import TokenReply
from core.api.open_values import OpenValueField, OpenValues
from core.api.serializers import IdField, OkReply, PageReply, StrictBooleanField, StrictCharField, TextField
from core.api.shapes import Shape
from core.characters import clean_name, is_invisible
from core.languages import supported_language
from core.times import json_time
from integrations.kinds import EVENT_TYPES
from messaging.serializers import CALL_OUTCOMES, BodyField, ClientIdField, MessageOutput

if TYPE_CHECKING:
    from accounts.models import User
    from integrations.models import Event


class ExternalIdField(TextField):
    """The id of a user on the team's own server, on one line."""

    default_error_messages = {"not_printable": _("Use visible characters on one line.")}
    defaults = {"max_length": EXTERNAL_ID_LENGTH, "allow_null": True, "required": False}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text.isprintable() or text != text.strip():
            self.fail("not_printable")
        return text


class ReasonField(TextField):
    """Kept in the audit log."""

    defaults = {"max_length": REASON_LENGTH}

    def to_internal_value(self, data: Any) -> str:
        reason = clean_name(super().to_internal_value(data))
        if is_invisible(reason):
            self.fail("blank")
        return reason


class FutureField(serializers.DateTimeField):
    """A moment in the future, with its zone."""

    default_error_messages = {"past": _("This must be in the future.")}

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str):
            self.fail("invalid", format="ISO 8601")
        moment = super().to_internal_value(value)
        if moment <= timezone.now():
            self.fail("past")
        return moment


@extend_schema_field({"type": "string"})
class AnyTextField(serializers.Field):
    """A JSON string of any content, such as an invalid token."""

    default_error_messages = {"not_text": _("This must be text.")}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text")
        return data


# --- Bodies of requests ------------------------------------------------------------------------------


class CreateUserInput(serializers.Serializer):
    email = AddressField()
    first_name = NameField()
    last_name = NameField(required=False, allow_blank=True)
    language = LanguageField(default=supported_language)
    external_id = ExternalIdField()
    is_verified = StrictBooleanField(required=False, default=True)
    password = NewPasswordField(required=False, allow_null=True)
    password_hash = StrictCharField(
        required=False,
        allow_null=True,
        max_length=PASSWORD_LENGTH,
        help_text="In Django's format: `pbkdf2_sha256$…`, `argon2$…`, `bcrypt$$…`, `bcrypt_sha256$$…` or `scrypt$…`.",
    )


class ChangeUserInput(serializers.Serializer):
    """Missing keys change nothing."""

    first_name = NameField(required=False)
    last_name = NameField(required=False, allow_blank=True)
    bio = TextField(required=False, allow_null=True, allow_blank=True, max_length=BIO_LENGTH)
    language = LanguageField()
    email = AddressField(required=False)
    external_id = ExternalIdField()

    def validate_bio(self, value: str | None) -> str | None:
        return None if value is None else value.strip()


class EraseUserInput(serializers.Serializer):
    reason = ReasonField()


class BlockUserByServerInput(serializers.Serializer):
    reason = ReasonField()
    until = FutureField(required=False, allow_null=True, default=None)


class OptionalReasonInput(serializers.Serializer):
    reason = ReasonField(required=False, default="", allow_blank=True)


class OpenSessionInput(serializers.Serializer):
    device_name = TextField(required=False, allow_blank=True, max_length=DEVICE_NAME_LENGTH)

    def validate_device_name(self, value: str) -> str:
        return clean_name(value)


class ServerMessageInput(serializers.Serializer):
    sender_id = IdField()
    recipient_id = IdField()
    body = BodyField()
    client_id = ClientIdField(allow_null=True)
    reply_to_id = IdField(required=False, allow_null=True)


class IntrospectInput(serializers.Serializer):
    token = AnyTextField(help_text="A session token that a user has sent to the team's own server.")


# --- Replies -----------------------------------------------------------------------------------------


class ServerUserOutput(ProfileSerializer):
    """A user as the team's own server sees them."""

    external_id = serializers.CharField(allow_null=True)
    last_seen_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(["active", "unverified", "blocked", "deletion_scheduled"])
    blocked_until = serializers.DateTimeField(allow_null=True)

    @classmethod
    def render(cls, user: "User") -> dict[str, Any]:
        now = timezone.now()
        blocked_until = json_time(user.blocked_until) if user.blocked_until and user.is_blocked(now) else None
        return cls.build(user, status=user.status_at(now), blocked_until=blocked_until)


class ServerUserReply(OkReply):
    user = ServerUserOutput()


class ServerUsersReply(PageReply):
    users = ServerUserOutput(many=True)


class ServerSessionReply(TokenReply):
    user = ServerUserOutput()


class ServerMessageReply(OkReply):
    message = MessageOutput()
    conversation_id = serializers.IntegerField()


class IntrospectReply(OkReply):
    active = serializers.BooleanField()
    user = ServerUserOutput(required=False, help_text="Of an active token.")
    session_id = serializers.IntegerField(required=False, help_text="The id in the user's list of sessions.")
    expires_at = serializers.DateTimeField(required=False)


SERVER_EVENT_TYPES = OpenValues("ServerEventType", EVENT_TYPES)
_GROWING = {"reason": SESSION_END_REASONS, "outcome": CALL_OUTCOMES}


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {},
        "properties": {name: values.schema() for name, values in _GROWING.items()},
    }
)
class ServerEventDataField(serializers.DictField):
    """Which keys there are depends on the type. These may hold new values."""


class ServerEventOutput(Shape):
    id = serializers.IntegerField(
        source="number", help_text="Its place in the log, which is also `after` of the next page."
    )
    webhook_id = serializers.CharField(help_text="The `webhook-id` under which targets get the same event.")
    type = OpenValueField(SERVER_EVENT_TYPES)
    timestamp = serializers.DateTimeField(source="created_at")
    data = ServerEventDataField(  # type: ignore[assignment]
        help_text="Ids and public fields; the guide names those of each type."
    )

    @classmethod
    def render(cls, event: "Event", data: dict[str, Any]) -> dict[str, Any]:
        return cls.build(event, data=data)


class ServerEventsReply(OkReply):
    events = ServerEventOutput(many=True)
    has_more = serializers.BooleanField()


class IdentityTokenInput(serializers.Serializer):
    audience = TextField(
        max_length=200, help_text="The service that the token is for, as `IDENTITY_AUDIENCES` names it."
    )


class IdentityTokenReply(OkReply):
    token = serializers.CharField(help_text="An ES256 JWT.")
    expires_in = serializers.IntegerField(help_text="Seconds.")
    expires_at = serializers.DateTimeField(help_text="The token expires then.")
