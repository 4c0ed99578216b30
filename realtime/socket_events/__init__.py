"""Renders the events of the log from the current rows.

The log holds references only. Invariants: a replay never contains a text that was deleted since, and an
event always carries the current state, so that applying it twice changes nothing.

A new event is one function in a module of this package, one line in EVENTS, and a receiver that
notes it. The function gets the event and the `Facts` of its batch, which have read every row that
the batch needs in a few queries; it returns the event's data, or another type and its data.
"""

from collections.abc import Callable, Iterable
from typing import Any

from realtime.calls.selectors import live_calls_for
from realtime.kinds import SocketRef
from realtime.selectors import LoggedEvent
from realtime.socket_events import calls, messages, notifications, people
from realtime.socket_events.context import EventContext

Data = dict[str, Any]
Render = Callable[[LoggedEvent, EventContext], Data | tuple[str, Data]]

EVENTS: dict[str, Render] = {
    "message.new": messages.new,
    "message.edited": messages.new,
    "message.deleted": messages.deleted,
    "message.reactions": messages.reactions,
    "conversation.created": messages.created,
    "conversation.read": messages.read,
    "conversation.cleared": messages.cleared,
    "block.changed": people.block,
    "profile.updated": people.profile,
    "notification.new": notifications.new,
    "notification.read_all": notifications.read_all,
    "call.updated": calls.updated,
}

# After these the user's counters may have changed.
MOVES_BADGE = {
    "message.new",
    "message.deleted",
    "conversation.read",
    "conversation.cleared",
    "notification.new",
    "notification.read_all",
}


def render(viewer_id: int, events: Iterable[LoggedEvent], device: SocketRef) -> list[dict[str, Any]]:
    """The frames of these events for one device of their user, in the same order and number."""
    events = list(events)
    facts = EventContext(viewer_id, events, device)
    return [_frame(event, EVENTS[event.type](event, facts)) for event in events]


def live_calls(user_id: int, device: SocketRef) -> list[dict[str, Any]]:
    """The user's calls that have not ended, for `ready`."""
    return live_calls_for(user_id, device)


def badge(user_id: int) -> dict[str, int]:
    """The user's two counters."""
    facts = EventContext(user_id, (), SocketRef(0))
    return {"unread_count": facts.unread_count, "message_unread_count": facts.message_unread_count}


def _frame(event: LoggedEvent, rendered: Data | tuple[str, Data]) -> dict[str, Any]:
    kind, data = rendered if isinstance(rendered, tuple) else (event.type, rendered)
    return {"type": kind, "seq": event.seq, "at": event.created_at, "data": data}
