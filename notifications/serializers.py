"""Notifications as JSON: the feed, preferences, push tokens (in requests only), and the events of other services as the
schema describes them."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from accounts.serializers import PersonSerializer
from core.api.open_values import OpenValueField, OpenValues
from core.api.serializers import OkReply, PageReply, StrictBooleanField, StrictCharField, TextField
from core.api.shapes import Shape
from notifications import kinds
from notifications.conf import conf
from notifications.models import Device

# --- Lists that may grow ---------------------------------------------------------------------------

TYPES = OpenValues("NotificationType", {kind.name: kind.meaning for kind in kinds.KINDS.values()})
TARGET_TYPES = OpenValues(
    "NotificationTargetType",
    {
        "post": "A post of the app that reports the event.",
        "user": "The profile of the actor.",
        "conversation": "The conversation with the actor.",
    },
)

# --- The feed --------------------------------------------------------------------------------------


class NotificationTargetSerializer(Shape):
    type = OpenValueField(TARGET_TYPES)
    id = serializers.IntegerField()
    title = serializers.CharField(allow_blank=True)

    @classmethod
    def render(cls, row: Any) -> dict[str, Any]:
        kind = kinds.KINDS[row.kind]
        return cls.build(
            row,
            type=kind.target_type,
            id=row.target_id if kind.has_target else row.actor.id,
            title=row.target_title if kind.target_type == "post" else row.actor.display_name,
        )


class NotificationSerializer(Shape):
    """Section 2.5 of the contract, of a Notification with its actor, or of a FeedRow."""

    id = serializers.IntegerField()
    type = OpenValueField(TYPES, source="kind")
    is_read = serializers.BooleanField()
    actor = PersonSerializer()
    target = NotificationTargetSerializer(source="*")
    count = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class NotificationsReply(PageReply):
    notifications = NotificationSerializer(many=True)
    unread_count = serializers.IntegerField()


class UnreadCountsReply(OkReply):
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class NotificationsReadReply(UnreadCountsReply):
    updated = serializers.IntegerField()


class NotificationReadReply(UnreadCountsReply):
    notification = NotificationSerializer()


class NotificationDeletedReply(UnreadCountsReply):
    notification_id = serializers.IntegerField()


# --- Preferences -----------------------------------------------------------------------------------


class PreferencesInput(Shape):
    """Section 2.6 of the contract, for requests and replies."""

    enabled = StrictBooleanField()
    quiet_mode = StrictBooleanField()
    likes = StrictBooleanField()
    comments = StrictBooleanField()
    follows = StrictBooleanField()
    messages = StrictBooleanField()


class PreferencesReply(OkReply):
    preferences: Any = PreferencesInput()


# --- Push tokens -----------------------------------------------------------------------------------


class _PatternField(StrictCharField):
    """Text exactly as sent, which matches the pattern as a whole."""

    def __init__(self, pattern: str, error: Any, **kwargs: Any) -> None:
        super().__init__(error_messages={"invalid": error}, **{"limits": {"pattern": f"^{pattern}$"}, **kwargs})
        self._pattern = pattern

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(self._pattern, text):
            self.fail("invalid")
        return text


_LANGUAGE_TAG = "[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*"


class RemovePushTokenInput(serializers.Serializer):
    # Opaque, in printable ASCII like FCM's tokens.
    token = _PatternField("[!-~]+", gettext_lazy("This push token is not valid."), max_length=4096)


class PushTokenInput(RemovePushTokenInput):
    platform = _PatternField(
        "|".join(Device.Platform.values),
        gettext_lazy("This must be android, ios or web."),
        default=Device.Platform.ANDROID,
        limits={"enum": Device.Platform.values},
    )
    device_id = TextField(max_length=255, allow_null=True, allow_blank=True, default=None)
    # A language tag, as the device names it.
    locale = _PatternField(
        _LANGUAGE_TAG,
        gettext_lazy("This is not a valid language code."),
        max_length=35,
        allow_null=True,
        allow_blank=True,
        default="",
        limits={"pattern": f"^({_LANGUAGE_TAG})?$"},
    )
    app_version = TextField(max_length=50, allow_null=True, allow_blank=True, default="")


class TestPushReply(OkReply):
    devices = serializers.IntegerField(help_text="How many devices of the caller the push is on its way to.")


# --- Events of other services ----------------------------------------------------------------------


class EventTarget(serializers.Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField(max_length=kinds.TITLE_LENGTH, allow_blank=True, required=False)


class EventInput(serializers.Serializer):
    event_id = serializers.CharField(max_length=kinds.EVENT_ID_LENGTH)
    type = serializers.ChoiceField(choices=sorted(kinds.EVENT_KINDS))
    action = serializers.ChoiceField(choices=kinds.ACTIONS, default="create")
    recipient_id = serializers.IntegerField()
    actor_id = serializers.IntegerField()
    target = EventTarget(required=False)
    comment_id = serializers.IntegerField(required=False, allow_null=True)
    occurred_at = serializers.DateTimeField(required=False, allow_null=True)


class EventBatchInput(serializers.Serializer):
    events = EventInput(many=True)


class EventResult(serializers.Serializer):
    event_id = serializers.CharField(allow_null=True)
    result = serializers.CharField()


class EventsReply(OkReply):
    results = EventResult(many=True)


def events_of(body: dict[str, Any]) -> list[object]:
    """The events of a body: one event, or a list named `events`. Each is validated when it is ingested."""
    if "events" not in body and "event_id" in body:
        return [body]
    events = body.get("events")
    if not isinstance(events, list) or not events:
        raise serializers.ValidationError({"events": [_("One event or a list of events is required.")]})
    if len(events) > conf.EVENTS_PER_REQUEST:
        limit = _("At most %(limit)d events at once.") % {"limit": conf.EVENTS_PER_REQUEST}
        raise serializers.ValidationError({"events": [limit]})
    return events
