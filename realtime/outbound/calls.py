"""Events about calls."""

from typing import Any

from realtime.outbound.facts import Facts
from realtime.selectors import LoggedEvent


def updated(event: LoggedEvent, facts: Facts) -> dict[str, Any]:
    """The call as this device sees it now."""
    return {"call": facts.calls.get(event.object_id or 0)}
