"""Queries of calls."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count

from core.api.exceptions import NotFound
from core.ids import parse_id
from realtime.calls.models import Call, CallParticipant

EXPORTED = (
    "id", "conversation_id", "caller_id", "callee_id", "media", "outcome", "created_at", "answered_at", "ended_at",
)  # fmt: skip


def call_for(viewer_id: int, call_id: object, *, lock: bool = False) -> Call:
    """A call with its participants, for one of them. NotFound for any other user."""
    calls = Call.objects.of(viewer_id).filter(id=parse_id(call_id)).prefetch_related("participants")
    call = (calls.select_for_update() if lock else calls).first()
    if call is None:
        raise NotFound
    return call


def live_calls_for(viewer_id: int) -> list[Call]:
    """The user's call that has not ended, if there is one: part of `ready`."""
    calls = Call.objects.of(viewer_id).filter(participants__user_id=viewer_id, participants__live=True)
    return list(calls.prefetch_related("participants"))


def call_history(viewer_id: int, *, limit: int, before: int | None) -> tuple[list[Call], bool]:
    """A page of a user's calls with their participants, newest first, and whether there are more."""
    participants = CallParticipant.objects.filter(user_id=viewer_id)
    if before is not None:
        participants = participants.filter(call_id__lt=before)
    ids = list(participants.order_by("-call_id").values_list("call_id", flat=True)[: limit + 1])
    page = Call.objects.filter(id__in=ids[:limit]).order_by("-id").prefetch_related("participants")
    return list(page), len(ids) > limit


def export_files(user_id: int) -> Iterator[tuple[str, Any]]:
    """The permanent data of realtime about a user: their calls. Events only repeat the data of other apps."""
    calls = Call.objects.of(user_id).order_by("id")
    yield "calls.json", calls.values(*EXPORTED).iterator(1000)


def calls_by_outcome(since: datetime) -> dict[str, int]:
    """The number of calls that began since then, by outcome."""
    ended = Call.objects.filter(created_at__gte=since).exclude(outcome="").values("outcome")
    return {row["outcome"]: row["number"] for row in ended.annotate(number=Count("id")).order_by()}
