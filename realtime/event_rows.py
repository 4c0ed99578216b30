"""The rows behind the events of the log, read for all events of a batch in a few queries."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from accounts.selectors import users_by_ids
from messaging import selectors as messaging
from notifications import selectors as notifications
from realtime.calls.models import Call
from realtime.calls.selectors import calls_for
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
