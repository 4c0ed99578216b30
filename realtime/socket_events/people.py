"""Events about the user's own account, for their own devices only."""

from typing import Any

from realtime.selectors import LoggedEvent
from realtime.socket_events.context import EventContext


def block(event: LoggedEvent, facts: EventContext) -> dict[str, Any]:
    return {"user_id": event.object_id, "blocked": bool((event.extra or {}).get("blocked"))}


def profile(event: LoggedEvent, facts: EventContext) -> dict[str, Any]:
    return {"user": facts.profile}
