"""Renders the events of the log from the current rows.

The log holds references only; a new message may come with its wake-up. Invariants: a replay never contains a text that
was deleted since, and an event always carries the current state, so that applying it twice changes nothing.

A new event is a serializer, one row of EVENTS, and a receiver that appends it. The serializer renders the data from the
event and a context, which reads the rows that all events of a batch need in a few queries.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer

from accounts.selectors import users_by_ids
from messaging import selectors as messaging
from notifications import selectors as notifications
from realtime import serializers
from realtime.calls.models import Call
from realtime.calls.selectors import calls_for
from realtime.calls.serializers import CallRingingData, CallSignalData
from realtime.kinds import SocketRef
from realtime.selectors import LoggedEvent


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
        self.device = part.device
        self._part = part
        self._shared = shared

    def message(self, event: LoggedEvent) -> messaging.SeenMessage | None:
        return self._shared.messages.get((self.viewer_id, event.object_id or 0))

    def notification(self, event: LoggedEvent) -> notifications.FeedRow | None:
        return self._shared.notifications.get((self.viewer_id, event.object_id or 0))

    @property
    def unread_notifications(self) -> int:
        """Unread rows of the feed."""
        return self._shared.unread_counts.get(self.viewer_id, 0)

    def conversation(self, event: LoggedEvent) -> messaging.ConversationRow | None:
        return self._conversations.get(event.conversation_id or 0)

    def unread_count(self, event: LoggedEvent) -> int:
        """Unread messages of the event's conversation."""
        return self._unread_counts.get(event.conversation_id or 0, 0)

    @cached_property
    def _conversations(self) -> dict[int, messaging.ConversationRow]:
        return messaging.conversations_for(self.viewer_id, self._conversation_ids)

    @cached_property
    def _unread_counts(self) -> dict[int, int]:
        return messaging.unread_counts_for(self.viewer_id, self._conversation_ids)

    @property
    def _conversation_ids(self) -> set[int]:
        return {e.conversation_id for e in self._part.events if e.conversation_id is not None}

    @cached_property
    def calls(self) -> dict[int, Call]:
        return calls_for(self.viewer_id, self._part.objects("call."))

    @cached_property
    def viewer(self) -> Any:
        return users_by_ids([self.viewer_id]).get(self.viewer_id)


class EventSpec(NamedTuple):
    summary: str
    # Renders the data, and describes them.
    data: type[serializers.EventData]
    # Afterwards the user's counters may have changed.
    moves_badge: bool = False


EVENTS = {
    "message.new": EventSpec("There is a new message in a conversation.", serializers.MessageData, moves_badge=True),
    "message.edited": EventSpec("The text of a message was changed.", serializers.MessageData),
    "message.deleted": EventSpec(
        "A message was deleted for both users.", serializers.MessageDeletedData, moves_badge=True
    ),
    "message.reactions": EventSpec(
        "The reactions to a message have changed. Contains all of them.", serializers.ReactionsData
    ),
    "conversation.created": EventSpec("There is a new conversation.", serializers.ConversationData),
    "conversation.read": EventSpec(
        "One of the two users has read a conversation.", serializers.ConversationReadData, moves_badge=True
    ),
    "conversation.cleared": EventSpec(
        "The user has cleared a conversation, here or on another device.", serializers.ClearedData, moves_badge=True
    ),
    "block.changed": EventSpec("The user has blocked or unblocked another user.", serializers.BlockData),
    "profile.updated": EventSpec("The profile of a user has changed.", serializers.ProfileData),
    "notification.new": EventSpec(
        "There is a new notification, or an existing one has changed.", serializers.NotificationData, moves_badge=True
    ),
    "notification.read_all": EventSpec(
        "All notifications were marked read.", serializers.AllReadData, moves_badge=True
    ),
    "call.updated": EventSpec("The state of a call has changed.", serializers.CallUpdatedData),
}


class EphemeralSpec(NamedTuple):
    summary: str
    data: type[Serializer[Any]]


# The events without a number, which are not in the log.
EPHEMERAL = {
    "ready": EphemeralSpec(
        "The socket is signed in. Contains the position of the log and the live calls.", serializers.ReadyData
    ),
    "synced": EphemeralSpec("Everything that was missed has been sent.", serializers.PositionData),
    "resync": EphemeralSpec(
        "The position is too old or unknown. Load the state again and continue from `seq`.", serializers.ResyncData
    ),
    "pong": EphemeralSpec("Answers `ping` with the current position of the log.", serializers.PositionData),
    "typing": EphemeralSpec("The other user types or has stopped.", serializers.TypingData),
    "presence": EphemeralSpec("The online status of a watched user has changed.", serializers.PresenceData),
    "conversation.delivered": EphemeralSpec(
        "Messages have arrived on a device of the other user.", serializers.DeliveredData
    ),
    "badge": EphemeralSpec("The unread counts have changed.", serializers.BadgeData),
    "auth.expiring": EphemeralSpec("The token expires soon. Send `auth` with a new one.", serializers.ExpiringData),
    "goaway": EphemeralSpec("The server restarts soon. Connect again after `retry_ms`.", serializers.GoAwayData),
    "call.ringing": EphemeralSpec("A device of the other user rings.", CallRingingData),
    "call.signal": EphemeralSpec("An offer, an answer or an ICE candidate of the other device.", CallSignalData),
}


def render(batch: Sequence[UserEvents]) -> list[list[dict[str, Any]]]:
    """The frames of these events, for each part of the batch in the same order and number."""
    shared = SharedRows(batch)
    rendered = []
    for part in batch:
        context = EventContext(part, shared)
        rendered.append([_frame(event, context) for event in part.events])
    return rendered


def _frame(event: LoggedEvent, context: EventContext) -> dict[str, Any]:
    kind, data = event.type, EVENTS[event.type].data.render_event(event, context)
    if data is None:
        kind, data = "message.deleted", serializers.MessageDeletedData.render_event(event, context)
    return {"type": kind, "seq": event.seq, "at": event.created_at, "data": data}
