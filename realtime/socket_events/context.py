"""The rows behind a batch of events, read in bulk and only when an event asks for them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from accounts.selectors import users_by_ids
from accounts.serializers import ProfileSerializer
from messaging import selectors as messaging
from notifications import selectors as notifications
from realtime.calls.selectors import calls_for
from realtime.kinds import SocketRef
from realtime.selectors import LoggedEvent


class EventContext:
    def __init__(self, viewer_id: int, events: Sequence[LoggedEvent], device: SocketRef) -> None:
        self.viewer_id = viewer_id
        self.device = device
        self._events = events

    def objects_of(self, prefix: str) -> set[int]:
        """The ids of the objects of all events whose type starts like this."""
        return {e.object_id for e in self._events if e.object_id is not None and e.type.startswith(prefix)}

    @cached_property
    def messages(self) -> dict[int, dict[str, Any]]:
        """The messages as this user sees them now; deleted and cleared ones are missing."""
        return messaging.messages_for(self.viewer_id, self.objects_of("message."))

    @cached_property
    def conversations(self) -> dict[int, dict[str, Any]]:
        wanted = {e.conversation_id for e in self._events if e.conversation_id is not None}
        return messaging.conversations_for(self.viewer_id, wanted)

    @cached_property
    def unread_counts(self) -> dict[int, int]:
        """Unread counts by conversation."""
        wanted = {e.conversation_id for e in self._events if e.conversation_id is not None}
        return messaging.unread_counts_for(self.viewer_id, wanted)

    @cached_property
    def notifications(self) -> dict[int, dict[str, Any]]:
        return notifications.notifications_for(self.viewer_id, self.objects_of("notification."))

    @cached_property
    def calls(self) -> dict[int, dict[str, Any]]:
        return calls_for(self.viewer_id, self.objects_of("call."), self.device)

    @cached_property
    def unread_count(self) -> int:
        """Unread rows of the feed."""
        return notifications.unread_count(self.viewer_id)

    @cached_property
    def message_unread_count(self) -> int:
        return messaging.message_unread_count(self.viewer_id)

    @cached_property
    def profile(self) -> dict[str, Any] | None:
        user = users_by_ids([self.viewer_id]).get(self.viewer_id)
        return None if user is None else ProfileSerializer.render(user)
