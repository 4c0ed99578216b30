"""Queries of the log, of the rows behind its events, and of open sockets."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, Self

from django.db.models import QuerySet

from accounts.selectors import users_by_ids
from core.database.compiled import compiled
from messaging import selectors as messaging
from notifications import selectors as notifications
from realtime.devices import Device
from realtime.models import Call, Event, Socket, Stream, alive_since


class LoggedEvent(NamedTuple):
    seq: int
    type: str
    conversation_id: int | None
    object_id: int | None
    extra: dict[str, Any] | None
    created_at: Any
    # The data of a new message that came with the wake-up; otherwise it is read.
    data: dict[str, Any] | None = None

    @classmethod
    def unpacked(cls, packed: Sequence[Any]) -> Self:
        """An event that came with a wake-up (services/event_log.py packs it)."""
        seq, type_, conversation_id, object_id, extra, at = packed
        parsed = json.loads(extra) if extra else None
        return cls(seq, type_, conversation_id, object_id, parsed, datetime.fromisoformat(at))


def events_after(user_id: int, seq: int, limit: int) -> list[LoggedEvent]:
    """The events after `seq` of a user's log, at most `limit`, oldest first; none if the next one was pruned."""
    # The log has no gaps, so the last number works as a LIMIT.
    return [LoggedEvent(*row) for row in _events(user_id, seq, seq + limit)]


@compiled
def _events(user_id: int, after: int, upto: int) -> QuerySet[Event, Any]:
    rows = Event.objects.filter(user_id=user_id, seq__gt=after, seq__lte=upto)
    return rows.order_by("seq").values_list("seq", "type", "conversation_id", "object_id", "extra", "created_at")


def heads(user_ids: Iterable[int]) -> dict[int, int]:
    """The last number of each user's log."""
    return dict(Stream.objects.filter(user_id__in=set(user_ids)).values_list("user_id", "head_seq"))


# --- The rows behind the events of the log, read for all events of a batch in a few queries ---------


class UserEvents(NamedTuple):
    """Events of a user's log, for one device of the user."""

    device: Device
    events: Sequence[LoggedEvent]

    def objects(self, prefix: str) -> set[int]:
        """The ids of the objects of all events whose type starts like this."""
        return {e.object_id for e in self.events if e.object_id is not None and e.type.startswith(prefix)}


class SharedRows:
    """The objects that events need most, for several users. Each kind is read in one query, and only when an event asks
    for it."""

    def __init__(self, batch: Sequence[UserEvents]) -> None:
        self._batch = batch

    def _of(self, prefix: str) -> tuple[set[int], set[int]]:
        """The users who have events whose type starts like this, and the objects of these events."""
        user_ids = {
            part.device.user_id for part in self._batch for event in part.events if event.type.startswith(prefix)
        }
        return user_ids, {id_ for part in self._batch for id_ in part.objects(prefix)}

    @cached_property
    def messages(self) -> dict[tuple[int, int], messaging.SeenMessage]:
        """Messages by user and id, as the user sees them now; deleted and cleared ones are missing."""
        return messaging.messages_for_each(*self._of("message."))

    @cached_property
    def notifications(self) -> dict[tuple[int, int], notifications.FeedRow]:
        """Notifications by user and id; deleted ones are missing."""
        return notifications.notifications_for_each(*self._of("notification."))

    @cached_property
    def unread_counts(self) -> dict[int, int]:
        """Numbers of unread notifications by user; users without any are missing."""
        user_ids, _ = self._of("notification.")
        return notifications.unread_counts(user_ids)


class EventContext:
    """The objects behind the events of one user, read in bulk and only when an event asks for them."""

    def __init__(self, part: UserEvents, shared: SharedRows) -> None:
        self.device, self.events = part
        self.viewer_id = self.device.user_id
        self._part = part
        self._shared = shared

    def message(self, event: LoggedEvent) -> messaging.SeenMessage | None:
        return self._shared.messages.get((self.viewer_id, event.object_id or 0))

    def notification(self, event: LoggedEvent) -> notifications.FeedRow | None:
        return self._shared.notifications.get((self.viewer_id, event.object_id or 0))

    @property
    def unread_notifications(self) -> int:
        """The number of unread notifications."""
        return self._shared.unread_counts.get(self.viewer_id, 0)

    def conversation(self, event: LoggedEvent) -> messaging.ConversationRow | None:
        return self._conversations.get(event.conversation_id or 0)

    def unread_count(self, event: LoggedEvent) -> int:
        """The number of unread messages in the event's conversation."""
        return self._unread_counts.get(event.conversation_id or 0, 0)

    @cached_property
    def _conversations(self) -> dict[int, messaging.ConversationRow]:
        return messaging.conversations_for(self.viewer_id, self._conversation_ids)

    @cached_property
    def _unread_counts(self) -> dict[int, int]:
        return messaging.unread_counts_for(self.viewer_id, self._conversation_ids)

    @property
    def _conversation_ids(self) -> set[int]:
        return {e.conversation_id for e in self.events if e.conversation_id is not None}

    @cached_property
    def calls(self) -> dict[int, Call]:
        calls = Call.objects.of(self.viewer_id).filter(id__in=self._part.objects("call."))
        return {call.id: call for call in calls.prefetch_related("participants")}

    @cached_property
    def viewer(self) -> Any:
        return users_by_ids([self.viewer_id]).get(self.viewer_id)


# --- Open sockets ----------------------------------------------------------------------------------


def online_user_ids(among: Iterable[int]) -> set[int]:
    """The users of `among` who have an open socket in any process."""
    return set(Socket.objects.alive().filter(user_id__in=set(among)).values_list("user_id", flat=True))


def online_peers_of(user_id: int) -> set[int]:
    """The users who may see this user's presence and have an open socket."""
    return {peer_id for (peer_id,) in _online_peers(user_id, alive_since())}


@compiled
def _online_peers(user_id: int, since: datetime) -> QuerySet[Socket, tuple[int]]:
    return Socket.objects.alive(since).filter(user_id__in=messaging.presence_viewers_of(user_id)).values_list("user_id")


def sockets_open() -> int:
    """Open sockets of all running processes."""
    return Socket.objects.alive().count()
