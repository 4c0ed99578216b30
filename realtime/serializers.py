"""The shapes of the real-time channel: the log over REST, and the data of the frames that the server sends (the
source of the AsyncAPI document). The data of an event of the log are rendered from the current rows."""

import re
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from accounts.serializers.users import ProfileSerializer
from core.pagination import Limit
from core.serializers import OkReply
from messaging.selectors import SeenMessage
from messaging.serializers import ConversationOutput, LastMessageOutput, MessageOutput, ReactionOutput
from notifications.serializers import NotificationSerializer
from realtime.calls.serializers import CallSerializer
from realtime.conf import conf
from realtime.selectors import LoggedEvent

if TYPE_CHECKING:
    from realtime.socket_events import EventContext

Data = dict[str, Any]

# --- The log over REST -----------------------------------------------------------------------------


CHANGES = Limit(conf.CHANGES_LIMIT, conf.CHANGES_MAX)


class QueryIntegerField(serializers.IntegerField):
    """A whole number in a query string: digits only, so neither `1.0` nor an empty text."""

    def to_internal_value(self, data: float | int | str) -> int:
        if not re.fullmatch(r"-?[0-9]+", str(data)):
            self.fail("invalid")
        return super().to_internal_value(data)


class ChangesQuery(serializers.Serializer):
    # Without upper limits: no log has such an epoch or number, so that the client has to reload.
    epoch = serializers.CharField(required=False, allow_blank=True)
    since = QueryIntegerField(min_value=0, required=False)
    limit = QueryIntegerField(min_value=1, default=CHANGES.default, help_text=CHANGES.description)

    def validate_limit(self, limit: int) -> int:
        return min(limit, CHANGES.maximum)


class LoggedEventSerializer(serializers.Serializer):
    type = serializers.CharField()
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    data = serializers.DictField()  # type: ignore[assignment]


class ChangesReply(OkReply):
    epoch = serializers.CharField()
    events = LoggedEventSerializer(many=True)
    seq = serializers.IntegerField()
    has_more = serializers.BooleanField()
    reset = serializers.BooleanField()


# --- Durable events ------------------------------------------------------------------------------


class EventData(serializers.Serializer):
    """The data of an event of the log."""

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data | None:
        """The current state of what the event is about. None for a message that has gone: then it was deleted."""
        raise NotImplementedError


class InConversation(serializers.Serializer):
    conversation_id = serializers.IntegerField()


class MessageData(InConversation, EventData):
    message = MessageOutput()
    unread_count = serializers.IntegerField(help_text="What the reader of this event has left unread here.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data | None:
        if event.data is not None:
            return event.data
        seen = context.message(event)
        return None if seen is None else cls.render(seen, context.viewer_id)

    @classmethod
    def render(cls, seen: SeenMessage, viewer_id: int) -> Data:
        return {
            "conversation_id": seen.message.conversation_id,
            "message": MessageOutput.render(seen.message, viewer_id),
            "unread_count": seen.unread_count,
        }


class MessageDeletedData(InConversation, EventData):
    """The message was deleted for both participants, or cleared by this user."""

    message_id = serializers.IntegerField()
    unread_count = serializers.IntegerField()
    last_message = LastMessageOutput(allow_null=True)

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        conversation = context.conversation(event)
        return {
            "conversation_id": event.conversation_id,
            "message_id": event.object_id,
            "unread_count": context.unread_count(event),
            "last_message": LastMessageOutput.render(conversation) if conversation else None,
        }


class ReactionsData(InConversation, EventData):
    message_id = serializers.IntegerField()
    reactions = ReactionOutput(many=True)

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data | None:
        seen = context.message(event)
        if seen is None:
            return None
        return {
            "conversation_id": event.conversation_id,
            "message_id": event.object_id,
            "reactions": ReactionOutput.render(seen.message.reactions),
        }


class ConversationData(EventData):
    conversation = ConversationOutput(allow_null=True, help_text="null when it has gone meanwhile.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        conversation = context.conversation(event)
        return {"conversation": ConversationOutput.render(conversation) if conversation else None}


class ConversationReadData(InConversation, EventData):
    """The user has read messages on another device, or the other participant has."""

    user_id = serializers.IntegerField(help_text="Who has read.")
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField(help_text="Of the reader of this event.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        return {
            "conversation_id": event.conversation_id,
            "user_id": event.object_id,
            "last_read_id": (event.extra or {}).get("last_read_id", 0),
            "unread_count": context.unread_count(event),
        }


class ClearedData(InConversation, EventData):
    cleared_up_to_id = serializers.IntegerField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        return {
            "conversation_id": event.conversation_id,
            "cleared_up_to_id": (event.extra or {}).get("cleared_up_to_id", 0),
        }


class BlockData(EventData):
    user_id = serializers.IntegerField()
    blocked = serializers.BooleanField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        return {"user_id": event.object_id, "blocked": bool((event.extra or {}).get("blocked"))}


class ProfileData(EventData):
    user = ProfileSerializer(allow_null=True)

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        return {"user": ProfileSerializer.render(context.viewer) if context.viewer else None}


class NotificationData(EventData):
    notification_id = serializers.IntegerField()
    notification = NotificationSerializer(allow_null=True, help_text="null when it has gone meanwhile.")
    unread_count = serializers.IntegerField()
    silent = serializers.BooleanField(required=False, help_text="Quiet mode: show, but make no sound.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        row = context.notification(event)
        data = {
            "notification_id": event.object_id,
            "notification": NotificationSerializer.render(row) if row else None,
            "unread_count": context.unread_notifications,
        }
        return data | {"silent": True} if (event.extra or {}).get("silent") else data


class AllReadData(EventData):
    unread_count = serializers.IntegerField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        return {"unread_count": context.unread_notifications}


class CallUpdatedData(EventData):
    call = CallSerializer(allow_null=True, help_text="null when one of the two has left for good.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: "EventContext") -> Data:
        call = context.calls.get(event.object_id or 0)
        return {
            "call": CallSerializer.render(call, viewer_id=context.viewer_id, device=context.device) if call else None
        }


# --- Events without a number -----------------------------------------------------------------------


class ReadyData(serializers.Serializer):
    user_id = serializers.IntegerField()
    epoch = serializers.CharField()
    seq = serializers.IntegerField()
    min_seq = serializers.IntegerField()
    ping_s = serializers.IntegerField()
    window = serializers.IntegerField()
    calls = CallSerializer(many=True)


class PositionData(serializers.Serializer):
    seq = serializers.IntegerField()


class ResyncData(PositionData):
    reason = serializers.CharField()


class TypingData(InConversation):
    user_id = serializers.IntegerField()
    is_typing = serializers.BooleanField(help_text="Expires after 6 s unless it is repeated.")


class PresenceData(serializers.Serializer):
    user_id = serializers.IntegerField()
    online = serializers.BooleanField()
    last_seen_at = serializers.DateTimeField(allow_null=True)


class DeliveredData(InConversation):
    user_id = serializers.IntegerField()
    delivered_id = serializers.IntegerField()


class BadgeData(serializers.Serializer):
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class ExpiringData(serializers.Serializer):
    expires_at = serializers.DateTimeField()


class GoAwayData(serializers.Serializer):
    retry_ms = serializers.IntegerField()


# --- Replies ---------------------------------------------------------------------------------------


class NothingData(serializers.Serializer):
    pass


class RenewedData(serializers.Serializer):
    user_id = serializers.IntegerField()


class PresenceReplyData(serializers.Serializer):
    presence = PresenceData(many=True)
