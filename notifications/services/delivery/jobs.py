"""A job is a claimed row that may be sent now; a delivery handler prepares and sends the jobs of one channel."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from notifications.channels.outcomes import Outcome
from notifications.services.delivery.claims import Claimed, DeliveryResult

# Prepared rows that waited longer than this for a thread are checked again before they are sent.
FRESH_SECONDS = 2.0


@dataclass(slots=True)
class Job:
    """A row that may be sent now, with what the channel needs to send it."""

    row: Claimed
    work: Any
    # Kept in the row when it was sent.
    note: dict[str, Any] = field(default_factory=dict)
    prepared_at: float = field(default_factory=time.monotonic)

    def is_stale(self) -> bool:
        """Waited so long for a thread that everything has to be checked again."""
        return time.monotonic() - self.prepared_at > FRESH_SECONDS


class DeliveryHandler(Protocol):
    """The interface of a channel for its worker."""

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]: ...

    def send(self, job: Job) -> Outcome: ...

    def idle(self) -> None: ...

    def device_gone(self, row: Claimed) -> None: ...


def result(row: Claimed, state: str, error: str = "", **more: Any) -> DeliveryResult:
    return DeliveryResult(id=row.id, lease_until=row.lease_until, state=state, error=error, **more)
