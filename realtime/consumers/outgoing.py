"""Events of the log as text for one socket."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from realtime import selectors, socket_events
from realtime.consumers import frames
from realtime.kinds import SocketRef
from realtime.selectors import LoggedEvent


class OutgoingEvent(NamedTuple):
    """An event ready to be sent."""

    seq: int
    text: str
    size: int
    moves_badge: bool
    # (conversation, message) if the event carries a message of the other participant.
    brings: tuple[int, int] | None


def read_events(user_id: int, seq: int, limit: int, device: SocketRef) -> list[OutgoingEvent]:
    return render_events(user_id, selectors.events_after(user_id, seq, limit), device)


def render_events(user_id: int, events: Sequence[LoggedEvent], device: SocketRef) -> list[OutgoingEvent]:
    outgoing = []
    for event, frame in zip(events, socket_events.render(user_id, events, device), strict=True):
        text = frames.write(frame)
        outgoing.append(
            OutgoingEvent(
                event.seq,
                text,
                len(text.encode()),
                socket_events.EVENTS[frame["type"]].moves_badge,
                _brought_by(frame, user_id),
            )
        )
    return outgoing


def unpack_event(packed: Sequence[Any]) -> LoggedEvent:
    """An event that came with a wake-up (services/log.py packs it)."""
    seq, kind, conversation_id, object_id, extra, at = packed
    return LoggedEvent(
        seq, kind, conversation_id, object_id, json.loads(extra) if extra else None, datetime.fromisoformat(at)
    )


def _brought_by(frame: dict[str, Any], user_id: int) -> tuple[int, int] | None:
    if frame["type"] != "message.new" or frame["data"]["message"]["sender_id"] == user_id:
        return None
    return frame["data"]["conversation_id"], frame["data"]["message"]["id"]
