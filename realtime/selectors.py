"""Queries of the log, of open sockets and of calls."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from core.database import compiled
from core.exceptions import NotFound
from core.fields import parse_id
from messaging.selectors import presence_viewers_of
from realtime.models import Call, CallParticipant, Event, Socket, SocketRef, Stream, alive_since
from realtime.serializers import CallSerializer

EXPORTED = (
    "id", "conversation_id", "caller_id", "callee_id", "media", "outcome", "created_at", "answered_at", "ended_at",
)  # fmt: skip


class LoggedEvent(NamedTuple):
    seq: int
    type: str
    conversation_id: int | None
    object_id: int | None
    extra: dict[str, Any] | None
    created_at: Any
    # Of a new message that came with the wake-up; otherwise it is read.
    data: dict[str, Any] | None = None


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


def stream_count() -> int:
    """How many users have an event log."""
    return Stream.objects.count()


def sockets_open() -> int:
    """Open sockets of all running processes."""
    return Socket.objects.alive().count()


# --- Calls ---------------------------------------------------------------------------------------


def call_for(viewer_id: int, call_id: object, device: SocketRef) -> dict[str, Any]:
    """One call as a device of a participant sees it. NotFound for any other user."""
    calls = Call.objects.of(viewer_id).filter(id=parse_id(call_id))
    for call in _rendered(calls, viewer_id, device):
        return call
    raise NotFound


def calls_for(viewer_id: int, ids: Iterable[int], device: SocketRef) -> dict[int, dict[str, Any]]:
    """The calls of these ids in which the viewer is or was a participant."""
    calls = Call.objects.of(viewer_id).filter(id__in=set(ids))
    return {call["id"]: call for call in _rendered(calls, viewer_id, device)}


def live_calls_for(viewer_id: int, device: SocketRef) -> list[dict[str, Any]]:
    """The user's call that has not ended, if there is one: part of `ready`."""
    calls = Call.objects.of(viewer_id).filter(participants__user_id=viewer_id, participants__live=True)
    return _rendered(calls, viewer_id, device)


def call_history(
    viewer_id: int, *, limit: int, before: int | None, device: SocketRef
) -> tuple[list[dict[str, Any]], bool]:
    """A page of a user's calls, newest first, and whether there are more."""
    participants = CallParticipant.objects.filter(user_id=viewer_id)
    if before is not None:
        participants = participants.filter(call_id__lt=before)
    ids = list(participants.order_by("-call_id").values_list("call_id", flat=True)[: limit + 1])
    page = Call.objects.filter(id__in=ids[:limit]).order_by("-id")
    return _rendered(page, viewer_id, device), len(ids) > limit


def _rendered(calls: QuerySet[Call], viewer_id: int, device: SocketRef) -> list[dict[str, Any]]:
    return [
        CallSerializer.render(call, viewer_id=viewer_id, device=device, participants=call.participants.all())
        for call in calls.prefetch_related("participants")
    ]


def export_files(user_id: int) -> Iterator[tuple[str, Any]]:
    """The permanent data of realtime about a user: their calls. Events only repeat what other apps export."""
    calls = Call.objects.of(user_id).order_by("id")
    yield "calls.json", calls.values(*EXPORTED).iterator(1000)


def calls_by_outcome(since: datetime) -> dict[str, int]:
    """The number of calls that began since then, by outcome."""
    ended = Call.objects.filter(created_at__gte=since).exclude(outcome="").values("outcome")
    return {row["outcome"]: row["number"] for row in ended.annotate(number=Count("id")).order_by()}
