"""Reads of the log and of open sockets."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from realtime.conf import conf
from realtime.models import Event, Socket, Stream


class LoggedEvent(NamedTuple):
    seq: int
    type: str
    conversation_id: int | None
    object_id: int | None
    extra: dict[str, Any] | None
    created_at: Any


def events_after(user_id: int, seq: int, limit: int) -> list[LoggedEvent]:
    """The next events of a person's log, oldest first."""
    rows = Event.objects.filter(user_id=user_id, seq__gt=seq).order_by("seq")
    return [LoggedEvent(*row) for row in rows.values_list(*LoggedEvent._fields)[:limit]]


def heads(user_ids: Iterable[int]) -> dict[int, int]:
    """The last number of each person's log."""
    return dict(Stream.objects.filter(user_id__in=set(user_ids)).values_list("user_id", "head_seq"))


def online_user_ids(among: Iterable[int]) -> set[int]:
    """Those of `among` who have an open socket in any process."""
    alive = timezone.now() - timedelta(seconds=conf.SOCKET_DEAD_SECONDS)
    return set(Socket.objects.filter(user_id__in=set(among), seen_at__gt=alive).values_list("user_id", flat=True))
