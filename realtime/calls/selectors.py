"""Queries of calls."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from core.exceptions import NotFound
from core.fields import parse_id
from realtime.calls.models import Call, CallParticipant
from realtime.calls.serializers import CallSerializer
from realtime.kinds import SocketRef

EXPORTED = (
    "id", "conversation_id", "caller_id", "callee_id", "media", "outcome", "created_at", "answered_at", "ended_at",
)  # fmt: skip


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
