"""The rows behind a batch of events, read in bulk and only when an event asks for them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from realtime.kinds import Device
from realtime.selectors import LoggedEvent


class Facts:
    def __init__(self, viewer_id: int, events: Sequence[LoggedEvent], device: Device) -> None:
        self.viewer_id = viewer_id
        self.device = device
        self._events = events

    def objects_of(self, prefix: str) -> set[int]:
        """The ids of the objects of all events whose type starts like this."""
        return {e.object_id for e in self._events if e.object_id is not None and e.type.startswith(prefix)}

    def conversations_of(self, prefix: str) -> set[int]:
        return {
            e.conversation_id for e in self._events if e.conversation_id is not None and e.type.startswith(prefix)
        }

    @cached_property
    def _nothing(self) -> dict[int, Any]:
        return {}
