"""Renders the events of the log from the current rows.

The log holds references only; a new message may come with its wake-up. Invariants: a replay never contains a text that
was deleted since, and an event always carries the current state, so that applying it twice changes nothing.

A new event is one function, one row of EVENTS, and a receiver that appends it. The function gets the event
and a context, which reads the rows that all events of a batch need in a few queries; it returns the event's
data, or another type and its data.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer

from accounts.selectors import users_by_ids
from accounts.serializers import ProfileSerializer
from messaging import selectors as messaging
from messaging.serializers import ConversationOutput, LastMessageOutput, ReactionOutput
from notifications import selectors as notifications
from notifications.serializers import NotificationSerializer
from realtime import serializers
from realtime.calls.models import Call
from realtime.calls.selectors import calls_for
from realtime.calls.serializers import CallRingingData, CallSerializer, CallSignalData, CallUpdatedData
from realtime.kinds import SocketRef
from realtime.selectors import LoggedEvent

Data = dict[str, Any]


class UserEvents(NamedTuple):
    """Events of a user's log, for one device of the user."""

    user_id: int
    events: Sequence[LoggedEvent]
    device: SocketRef

    def objects(self, prefix: str) -> set[int]:
        """The ids of the objects of all events whose type starts like this."""
        return {e.object_id for e in self.events if e.object_id is not None and e.type.startswith(prefix)}


class SharedRows:
    """What the events of several users need most, each read in one query and only when an event asks for it."""

    def __init__(self, batch: Sequence[UserEvents]) -> None:
        self._batch = batch

    def _of(self, prefix: str) -> tuple[set[int], set[int]]:
        """The users who have events whose type starts like this, and the objects of these events."""
        parts = [part for part in self._batch if any(event.type.startswith(prefix) for event in part.events)]
        return {part.user_id for part in parts}, {id_ for part in parts for id_ in part.objects(prefix)}

    @cached_property
    def messages(self) -> dict[tuple[int, int], messaging.SeenMessage]:
        """By user and message, as they see them now; deleted and cleared ones are missing."""
        return messaging.messages_for_each(*self._of("message."))

    @cached_property
    def notifications(self) -> dict[tuple[int, int], notifications.FeedRow]:
        """By user and row of the feed; deleted ones are missing."""
        return notifications.notifications_for_each(*self._of("notification."))

    @cached_property
    def unread_counts(self) -> dict[int, int]:
        """Unread rows of the feed, by user; users without are missing."""
        user_ids, _ = self._of("notification.")
        return notifications.unread_counts(user_ids)


class EventContext:
    """The rows behind the events of one user, read in bulk and only when an event asks for them."""

    def __init__(self, part: UserEvents, shared: SharedRows) -> None:
        self.viewer_id = part.user_id
        self._part = part
        self._shared = shared

    def message(self, event: LoggedEvent) -> messaging.SeenMessage | None:
        return self._shared.messages.get((self.viewer_id, event.object_id or 0))

    def notification(self, event: LoggedEvent) -> notifications.FeedRow | None:
        return self._shared.notifications.get((self.viewer_id, event.object_id or 0))

    @property
    def unread_count(self) -> int:
        """Unread rows of the feed."""
        return self._shared.unread_counts.get(self.viewer_id, 0)

    @cached_property
    def conversations(self) -> dict[int, messaging.ConversationRow]:
        return messaging.conversations_for(self.viewer_id, self._conversation_ids)

    @cached_property
    def unread_counts(self) -> dict[int, int]:
        """Unread counts by conversation."""
        return messaging.unread_counts_for(self.viewer_id, self._conversation_ids)

    @property
    def _conversation_ids(self) -> set[int]:
        return {e.conversation_id for e in self._part.events if e.conversation_id is not None}

    @cached_property
    def calls(self) -> dict[int, Call]:
        return calls_for(self.viewer_id, self._part.objects("call."))

    def render_call(self, call: Call) -> dict[str, Any]:
        """As the device of this part sees it."""
        return CallSerializer.render(call, viewer_id=self.viewer_id, device=self._part.device)

    @cached_property
    def profile(self) -> dict[str, Any] | None:
        user = users_by_ids([self.viewer_id]).get(self.viewer_id)
        return None if user is None else ProfileSerializer.render(user)


def _message(event: LoggedEvent, context: EventContext) -> Data | tuple[str, Data]:
    """message.new and message.edited: the message in its current state."""
    if event.data is not None:
        return event.data
    seen = context.message(event)
    if seen is None:
        return "message.deleted", _message_deleted(event, context)
    return serializers.MessageData.render(seen, context.viewer_id)


def _message_deleted(event: LoggedEvent, context: EventContext) -> Data:
    """The message was deleted for both participants, or cleared by this user."""
    conversation = context.conversations.get(event.conversation_id or 0)
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "unread_count": _unread_count(event, context),
        "last_message": LastMessageOutput.render(conversation) if conversation else None,
    }


def _reactions(event: LoggedEvent, context: EventContext) -> Data | tuple[str, Data]:
    seen = context.message(event)
    if seen is None:
        return "message.deleted", _message_deleted(event, context)
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "reactions": ReactionOutput.render(seen.message.reactions),
    }


def _conversation_created(event: LoggedEvent, context: EventContext) -> Data:
    conversation = context.conversations.get(event.conversation_id or 0)
    return {"conversation": ConversationOutput.render(conversation) if conversation else None}


def _conversation_read(event: LoggedEvent, context: EventContext) -> Data:
    """The user has read messages on another device, or the other participant has."""
    return {
        "conversation_id": event.conversation_id,
        "user_id": event.object_id,
        "last_read_id": (event.extra or {}).get("last_read_id", 0),
        "unread_count": _unread_count(event, context),
    }


def _conversation_cleared(event: LoggedEvent, context: EventContext) -> Data:
    return {
        "conversation_id": event.conversation_id,
        "cleared_up_to_id": (event.extra or {}).get("cleared_up_to_id", 0),
    }


def _unread_count(event: LoggedEvent, context: EventContext) -> int:
    """The current unread count of the log's owner in the conversation."""
    return context.unread_counts.get(event.conversation_id or 0, 0)


def _block(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    return {"user_id": event.object_id, "blocked": bool((event.extra or {}).get("blocked"))}


def _profile(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    return {"user": context.profile}


def _notification(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    """The current row of the feed; null when it was deleted meanwhile."""
    row = context.notification(event)
    data: dict[str, Any] = {
        "notification_id": event.object_id,
        "notification": NotificationSerializer.render(row) if row else None,
        "unread_count": context.unread_count,
    }
    if (event.extra or {}).get("silent"):
        data["silent"] = True
    return data


def _all_read(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    return {"unread_count": context.unread_count}


def _call(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    """The call as this device sees it now."""
    call = context.calls.get(event.object_id or 0)
    return {"call": context.render_call(call) if call else None}


class EventSpec(NamedTuple):
    render: Callable[[LoggedEvent, EventContext], Data | tuple[str, Data]]
    # The shape of the rendered data.
    data: type[Serializer[Any]]
    # Afterwards the user's counters may have changed.
    moves_badge: bool = False


EVENTS = {
    "message.new": EventSpec(_message, serializers.MessageData, moves_badge=True),
    "message.edited": EventSpec(_message, serializers.MessageData),
    "message.deleted": EventSpec(_message_deleted, serializers.MessageDeletedData, moves_badge=True),
    "message.reactions": EventSpec(_reactions, serializers.ReactionsData),
    "conversation.created": EventSpec(_conversation_created, serializers.ConversationData),
    "conversation.read": EventSpec(_conversation_read, serializers.ConversationReadData, moves_badge=True),
    "conversation.cleared": EventSpec(_conversation_cleared, serializers.ClearedData, moves_badge=True),
    "block.changed": EventSpec(_block, serializers.BlockData),
    "profile.updated": EventSpec(_profile, serializers.ProfileData),
    "notification.new": EventSpec(_notification, serializers.NotificationData, moves_badge=True),
    "notification.read_all": EventSpec(_all_read, serializers.AllReadData, moves_badge=True),
    "call.updated": EventSpec(_call, CallUpdatedData),
}


# The shapes of the events without a number, which are not in the log.
EPHEMERAL: dict[str, type[Serializer[Any]]] = {
    "ready": serializers.ReadyData,
    "synced": serializers.PositionData,
    "resync": serializers.ResyncData,
    "pong": serializers.PositionData,
    "typing": serializers.TypingData,
    "presence": serializers.PresenceData,
    "conversation.delivered": serializers.DeliveredData,
    "badge": serializers.BadgeData,
    "auth.expiring": serializers.ExpiringData,
    "goaway": serializers.GoAwayData,
    "call.ringing": CallRingingData,
    "call.signal": CallSignalData,
}


def render(batch: Sequence[UserEvents]) -> list[list[dict[str, Any]]]:
    """The frames of these events, for each part of the batch in the same order and number."""
    shared = SharedRows(batch)
    rendered = []
    for part in batch:
        context = EventContext(part, shared)
        rendered.append([_frame(event, EVENTS[event.type].render(event, context)) for event in part.events])
    return rendered


def _frame(event: LoggedEvent, rendered: Data | tuple[str, Data]) -> dict[str, Any]:
    kind, data = rendered if isinstance(rendered, tuple) else (event.type, rendered)
    return {"type": kind, "seq": event.seq, "at": event.created_at, "data": data}
