"""A clock that tests move."""

from datetime import UTC, datetime, timedelta
from typing import Any


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def forward(self, **interval: Any) -> None:
        """By any interval that timedelta takes; a negative one goes back."""
        self.ahead += timedelta(**interval)
