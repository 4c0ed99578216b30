"""A clock that tests move."""

from datetime import UTC, datetime, timedelta
from typing import Any


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def as_datetime(self) -> type[datetime]:
        """A `datetime` with this clock, for a library that reads its own."""
        clock = self

        class Moved(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return clock.now()

        return Moved

    def forward(self, **interval: Any) -> None:
        """By any interval that timedelta takes; a negative one goes back."""
        self.ahead += timedelta(**interval)
