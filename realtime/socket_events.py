"""Renders the events of the log from the current state of their objects.

The log holds references only; a new message may come with its wake-up. Invariants: a replay never contains a text that
was deleted since, and an event always carries the current state, so that applying it twice changes nothing.

A new event is a serializer, an entry in EVENTS, and a receiver that appends it. The serializer renders the data from
the event and a context, which reads the objects of all events of a batch in a few queries.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rest_framework import serializers

from accounts.serializers import ProfileSerializer
from core.api.open_values import OpenValueField, OpenValues
from core.api.serializers import OkReply
from core.api.shapes import Shape
from messaging.selectors import SeenMessage
from messaging.serializers import ConversationOutput, LastMessageOutput, MessageOutput, ReactionOutput
from notifications.serializers import NotificationSerializer
from realtime import serializers as shapes
from realtime.calls.serializers import CallRingingData, CallSerializer, CallSignalData
from realtime.selectors import EventContext, LoggedEvent, SharedRows, UserEvents

Data = dict[str, Any]


class EventData(Shape):
    """The data of an event of the log."""

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data | None:
        """The current state of the event's object. None for a message that was deleted since."""
        raise NotImplementedError


class MessageData(shapes.InConversation, EventData):
    message = MessageOutput()
    unread_count = serializers.IntegerField(help_text="What the reader of this event has left unread here.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data | None:
        if event.data is not None:
            return event.data
        seen = context.message(event)
        return None if seen is None else cls.render(seen, context.viewer_id)

    @classmethod
    def render(cls, seen: SeenMessage, viewer_id: int) -> Data:
        message = MessageOutput.render(seen.message, viewer_id)
        return cls.build(seen, conversation_id=seen.message.conversation_id, message=message)


class MessageDeletedData(shapes.InConversation, EventData):
    """The message was deleted for both participants, or cleared by this user."""

    message_id = serializers.IntegerField(source="object_id")
    unread_count = serializers.IntegerField()
    last_message = LastMessageOutput(allow_null=True)

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        conversation = context.conversation(event)
        last_message = LastMessageOutput.render(conversation) if conversation else None
        return cls.build(event, unread_count=context.unread_count(event), last_message=last_message)


class ReactionsData(shapes.InConversation, EventData):
    message_id = serializers.IntegerField(source="object_id")
    reactions = ReactionOutput(many=True)
    unread_count = serializers.IntegerField(help_text="What the reader of this event has left unread here.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data | None:
        seen = context.message(event)
        if seen is None:
            return None
        reactions = [ReactionOutput.render(row) for row in seen.message.reactions]
        return cls.build(event, reactions=reactions, unread_count=seen.unread_count)


class ConversationData(EventData):
    conversation = ConversationOutput(allow_null=True, help_text="null when it has gone meanwhile.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        conversation = context.conversation(event)
        return cls.build(event, conversation=ConversationOutput.render(conversation) if conversation else None)


class ConversationReadData(shapes.InConversation, EventData):
    """The user has read messages on another device, or the other participant has."""

    user_id = serializers.IntegerField(source="object_id", help_text="Who has read.")
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField(help_text="Of the reader of this event.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        last_read_id = (event.extra or {}).get("last_read_id", 0)
        return cls.build(event, last_read_id=last_read_id, unread_count=context.unread_count(event))


class ClearedData(shapes.InConversation, EventData):
    cleared_up_to_id = serializers.IntegerField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        return cls.build(event, cleared_up_to_id=(event.extra or {}).get("cleared_up_to_id", 0))


class BlockData(EventData):
    user_id = serializers.IntegerField(source="object_id")
    blocked = serializers.BooleanField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        return cls.build(event, blocked=bool((event.extra or {}).get("blocked")))


class ProfileData(EventData):
    user = ProfileSerializer(allow_null=True)

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        return cls.build(event, user=ProfileSerializer.render(context.viewer) if context.viewer else None)


class NotificationData(EventData):
    notification_id = serializers.IntegerField(source="object_id")
    notification = NotificationSerializer(allow_null=True, help_text="null when it has gone meanwhile.")
    unread_count = serializers.IntegerField()
    silent = serializers.BooleanField(required=False, help_text="Quiet mode: show, but make no sound.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        row = context.notification(event)
        return cls.build(
            event,
            notification=NotificationSerializer.render(row) if row else None,
            unread_count=context.unread_notifications,
            **({"silent": True} if (event.extra or {}).get("silent") else {}),
        )


class AllReadData(EventData):
    unread_count = serializers.IntegerField()

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        return cls.build(event, unread_count=context.unread_notifications)


class CallUpdatedData(EventData):
    call = CallSerializer(allow_null=True, help_text="null when one of the two has left for good.")

    @classmethod
    def render_event(cls, event: LoggedEvent, context: EventContext) -> Data:
        call = context.calls.get(event.object_id or 0)
        return cls.build(event, call=CallSerializer.render(call, device=context.device) if call else None)


class EventSpec(NamedTuple):
    summary: str
    # Renders the data and describes their shape.
    data: type[EventData]
    # Whether the event may change the user's counters.
    moves_badge: bool = False


EVENTS = {
    "message.new": EventSpec("There is a new message in a conversation.", MessageData, moves_badge=True),
    "message.edited": EventSpec("The text of a message was changed.", MessageData),
    "message.deleted": EventSpec("A message was deleted for both users.", MessageDeletedData, moves_badge=True),
    "message.reactions": EventSpec("The reactions to a message have changed. Contains all of them.", ReactionsData),
    "conversation.created": EventSpec("There is a new conversation.", ConversationData),
    "conversation.read": EventSpec(
        "One of the two users has read a conversation.", ConversationReadData, moves_badge=True
    ),
    "conversation.cleared": EventSpec(
        "The user has cleared a conversation, here or on another device.", ClearedData, moves_badge=True
    ),
    "block.changed": EventSpec("The user has blocked or unblocked another user.", BlockData),
    "profile.updated": EventSpec("The profile of a user has changed.", ProfileData),
    "notification.new": EventSpec(
        "There is a new notification, or an existing one has changed.", NotificationData, moves_badge=True
    ),
    "notification.read_all": EventSpec("All notifications were marked read.", AllReadData, moves_badge=True),
    "call.updated": EventSpec("The state of a call has changed.", CallUpdatedData),
}


LOGGED_TYPES = OpenValues("LoggedEventType", {name: event.summary for name, event in EVENTS.items()})


class LoggedEventSerializer(serializers.Serializer):
    type = OpenValueField(LOGGED_TYPES)
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    data = serializers.DictField()  # type: ignore[assignment]


class ChangesReply(OkReply):
    """The log over REST."""

    epoch = serializers.CharField()
    events = LoggedEventSerializer(many=True)
    seq = serializers.IntegerField()
    has_more = serializers.BooleanField()
    reset = serializers.BooleanField()


class EphemeralSpec(NamedTuple):
    summary: str
    data: type[serializers.Serializer[Any]]


# Events without a number, which are not in the log.
EPHEMERAL = {
    "ready": EphemeralSpec(
        "The socket is signed in. Contains the position of the log and the live calls.", shapes.ReadyData
    ),
    "synced": EphemeralSpec("Everything that was missed has been sent.", shapes.PositionData),
    "resync": EphemeralSpec(
        "The position is too old or unknown. Load the state again and continue from `seq`.", shapes.ResyncData
    ),
    "pong": EphemeralSpec("Answers `ping` with the current position of the log.", shapes.PositionData),
    "typing": EphemeralSpec("The other user types or has stopped.", shapes.TypingData),
    "presence": EphemeralSpec("The online status of a watched user has changed.", shapes.PresenceData),
    "conversation.delivered": EphemeralSpec(
        "Messages have arrived on a device of the other user.", shapes.DeliveredData
    ),
    "badge": EphemeralSpec("The unread counts have changed.", shapes.BadgeData),
    "auth.expiring": EphemeralSpec("The token expires soon. Send `auth` with a new one.", shapes.ExpiringData),
    "goaway": EphemeralSpec("The server restarts soon. Connect again after `retry_ms`.", shapes.GoAwayData),
    "call.ringing": EphemeralSpec("A device of the other user rings.", CallRingingData),
    "call.signal": EphemeralSpec("An offer, an answer or an ICE candidate of the other device.", CallSignalData),
}


def render(batch: Sequence[UserEvents]) -> list[list[dict[str, Any]]]:
    """The frames of these events, for each part of the batch in the same order and number."""
    shared = SharedRows(batch)
    contexts = [EventContext(part, shared) for part in batch]
    return [[_frame(event, context) for event in context.events] for context in contexts]


def _frame(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    kind, data = event.type, EVENTS[event.type].data.render_event(event, context)
    if data is None:
        kind, data = "message.deleted", MessageDeletedData.render_event(event, context)
    return {"type": kind, "seq": event.seq, "at": event.created_at, "data": data}
