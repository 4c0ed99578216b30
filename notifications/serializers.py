"""Notifications as JSON: the feed, preferences, push tokens (in requests only), and the events of other services as the
schema describes them."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from accounts.serializers import PersonSerializer
from core.serializers import OkReply, PageReply, StrictBooleanField, StrictCharField, TextField
from notifications import kinds
from notifications.conf import conf
from notifications.models import Device, Preferences

# --- The feed --------------------------------------------------------------------------------------


class NotificationTargetSerializer(serializers.Serializer):
    type = serializers.ChoiceField(choices=["post", "user", "conversation"])
    id = serializers.IntegerField()
    title = serializers.CharField(allow_blank=True)

    @classmethod
    def render(cls, row: Any) -> dict[str, Any]:
        kind = kinds.KINDS[row.kind]
        return {
            "type": kind.target_type,
            "id": row.target_id if kind.has_target else row.actor.id,
            "title": row.target_title if kind.target_type == "post" else row.actor.display_name,
        }


class NotificationSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(choices=list(kinds.KINDS))
    is_read = serializers.BooleanField()
    actor = PersonSerializer()
    target = NotificationTargetSerializer()
    count = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, row: Any) -> dict[str, Any]:
        """Section 2.5 of the contract, of a Notification with its actor, or of a FeedRow."""
        return {
            "id": row.id,
            "type": row.kind,
            "is_read": row.is_read,
            "actor": PersonSerializer.render(row.actor),
            "target": NotificationTargetSerializer.render(row),
            "count": row.count,
            "created_at": row.created_at,
        }


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


class PreferencesInput(serializers.Serializer):
    """Section 2.6 of the contract, both as it comes in and as it goes out."""

    enabled = StrictBooleanField()
    quiet_mode = StrictBooleanField()
    likes = StrictBooleanField()
    comments = StrictBooleanField()
    follows = StrictBooleanField()
    messages = StrictBooleanField()

    @classmethod
    def render(cls, choice: Preferences) -> dict[str, bool]:
        return {name: getattr(choice, name) for name in kinds.PREFERENCE_FIELDS}


class PreferencesReply(OkReply):
    preferences: Any = PreferencesInput()


# --- Push tokens -----------------------------------------------------------------------------------


class _PatternField(StrictCharField):
    """Text exactly as sent, which matches the pattern as a whole."""

    def __init__(self, pattern: str, error: Any, **kwargs: Any) -> None:
        super().__init__(error_messages={"invalid": error}, **kwargs)
        self._pattern = pattern

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(self._pattern, text):
            self.fail("invalid")
        return text


class RemovePushTokenInput(serializers.Serializer):
    # Opaque; printable ASCII, as FCM's are.
    token = _PatternField(r"[\x21-\x7e]+", gettext_lazy("This push token is not valid."), max_length=4096)


class PushTokenInput(RemovePushTokenInput):
    platform = _PatternField(
        "|".join(Device.Platform.values),
        gettext_lazy("This must be android, ios or web."),
        default=Device.Platform.ANDROID,
    )
    device_id = TextField(max_length=255, allow_null=True, allow_blank=True, default=None)
    # A language tag, as the device names it.
    locale = _PatternField(
        r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*",
        gettext_lazy("This is not a valid language code."),
        max_length=35,
        allow_null=True,
        allow_blank=True,
        default="",
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
    """The events of a body, which is one event or a list named `events`. Each event is validated when it is ingested."""
    if "events" not in body and "event_id" in body:
        return [body]
    events = body.get("events")
    if not isinstance(events, list) or not events:
        raise serializers.ValidationError({"events": [_("One event or a list of events is required.")]})
    if len(events) > conf.EVENTS_PER_REQUEST:
        limit = _("At most %(limit)d events at once.") % {"limit": conf.EVENTS_PER_REQUEST}
        raise serializers.ValidationError({"events": [limit]})
    return events
