"""Queries of the log and of open sockets."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self

from django.db.models import QuerySet

from core.database import compiled
from messaging.selectors import presence_viewers_of
from realtime.models import Event, Socket, Stream, alive_since


class LoggedEvent(NamedTuple):
    seq: int
    type: str
    conversation_id: int | None
    object_id: int | None
    extra: dict[str, Any] | None
    created_at: Any
    # Of a new message that came with the wake-up; otherwise it is read.
    data: dict[str, Any] | None = None

    @classmethod
    def unpacked(cls, packed: Sequence[Any]) -> Self:
        """An event that came with a wake-up (services/log.py packs it)."""
        seq, type_, conversation_id, object_id, extra, at = packed
        parsed = json.loads(extra) if extra else None
        return cls(seq, type_, conversation_id, object_id, parsed, datetime.fromisoformat(at))


def events_after(user_id: int, seq: int, limit: int) -> list[LoggedEvent]:
    """The events after `seq` of a user's log, at most `limit`, oldest first; none if the next one was pruned."""
    # The log has no gaps, so that the last number is as good as a LIMIT.
    return [LoggedEvent(*row) for row in _events(user_id, seq, seq + limit)]


@compiled
def _events(user_id: int, after: int, upto: int) -> QuerySet[Event, Any]:
    rows = Event.objects.filter(user_id=user_id, seq__gt=after, seq__lte=upto)
    return rows.order_by("seq").values_list("seq", "type", "conversation_id", "object_id", "extra", "created_at")


def heads(user_ids: Iterable[int]) -> dict[int, int]:
    """The last number of each user's log."""
    return dict(Stream.objects.filter(user_id__in=set(user_ids)).values_list("user_id", "head_seq"))


def online_user_ids(among: Iterable[int]) -> set[int]:
    """Those of `among` who have an open socket in any process."""
    return set(Socket.objects.alive().filter(user_id__in=set(among)).values_list("user_id", flat=True))


def online_peers_of(user_id: int) -> set[int]:
    """The users who may see this user's presence and have an open socket."""
    return {peer_id for (peer_id,) in _online_peers(user_id, alive_since())}


@compiled
def _online_peers(user_id: int, since: datetime) -> QuerySet[Socket, tuple[int]]:
    return Socket.objects.alive(since).filter(user_id__in=presence_viewers_of(user_id)).values_list("user_id")


def sockets_open() -> int:
    """Open sockets of all running processes."""
    return Socket.objects.alive().count()
