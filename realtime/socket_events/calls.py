"""Events about calls."""

from typing import Any

from realtime.selectors import LoggedEvent
from realtime.socket_events.context import EventContext


def updated(event: LoggedEvent, facts: EventContext) -> dict[str, Any]:
    """The call as this device sees it now."""
    return {"call": facts.calls.get(event.object_id or 0)}
