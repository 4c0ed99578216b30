"""What calls ask of sockets. All else in calls knows a connection as a `Device`: docs/decisions/calls.md#0120"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from realtime import wakeups
from realtime.calls.models import CallParticipant
from realtime.devices import Device
from realtime.services import sockets


def dead_after() -> timedelta:
    """A socket of a call counts as closed if its process has not touched it for this long."""
    return timedelta(seconds=2.5 * sockets.sweep_seconds())


def last_seen(*participants: CallParticipant) -> dict[str, datetime]:
    """When their processes last touched the bound sockets, by socket. One that has closed is missing."""
    return sockets.last_seen(bound.socket_id for bound in participants if bound.gone_at is None)


def is_any_open(*participants: CallParticipant) -> bool:
    """Whether one of the bound sockets is open: not closed, and touched recently by its process."""
    return any(seen_at > timezone.now() - dead_after() for seen_at in last_seen(*participants).values())


def newest_other(participant: CallParticipant, *, since: datetime) -> Device | None:
    """The newest socket of the bound session, apart from the bound one, that has opened since then and is listed."""
    return sockets.newest_of(
        user_id=participant.user_id, session_id=participant.session_id, but=participant.socket_id, since=since
    )


def send(participant: CallParticipant, type: str, data: dict[str, Any]) -> None:
    """Sends an ephemeral frame to the bound socket of one participant, after the unit of work is committed.

    The frame is not droppable, because a call cannot connect without every candidate.
    """
    frame = {"type": type, "data": data}
    message = wakeups.frame_message(participant.user_id, frame, only=participant.socket_id, droppable=False)
    transaction.on_commit(lambda: wakeups.publish([message]), robust=True)
