"""Events about one's own account: they go to one's own devices only."""

from typing import Any

from realtime.outbound.facts import Facts
from realtime.selectors import LoggedEvent


def block(event: LoggedEvent, facts: Facts) -> dict[str, Any]:
    return {"user_id": event.object_id, "blocked": bool((event.extra or {}).get("blocked"))}


def profile(event: LoggedEvent, facts: Facts) -> dict[str, Any]:
    return {"user": facts.profile}
