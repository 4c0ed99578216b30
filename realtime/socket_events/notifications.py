"""Events about the feed."""

from typing import Any

from realtime.selectors import LoggedEvent
from realtime.socket_events.context import EventContext


def new(event: LoggedEvent, facts: EventContext) -> dict[str, Any]:
    """A row of the feed as it is now; null when it has gone meanwhile."""
    data: dict[str, Any] = {
        "notification_id": event.object_id,
        "notification": facts.notifications.get(event.object_id or 0),
        "unread_count": facts.unread_count,
    }
    if (event.extra or {}).get("silent"):
        data["silent"] = True
    return data


def read_all(event: LoggedEvent, facts: EventContext) -> dict[str, Any]:
    return {"unread_count": facts.unread_count}
