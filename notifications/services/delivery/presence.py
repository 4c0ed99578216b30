"""Who watches a live socket, as the floor above tells it.

This app may not know sockets. Whoever has them registers one function when the process starts; until
then nobody is connected.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

ABSENT = "absent"
CONNECTED = "connected"
SEEN = "seen"


class Sighting(NamedTuple):
    """Did this sign-in of this person hear, on a socket, of what happened at `since`?"""

    user_id: int
    session_id: int
    since: datetime


# One answer per question, in order: `seen` when a socket of the session acknowledged everything that
# was written for the person up to `since`, `connected` when one is open that has not yet, else `absent`.
Presence = Callable[[Sequence[Sighting]], Sequence[str]]

_presence: Presence | None = None


def register_presence(presence: Presence | None) -> None:
    """Ask this function, in whatever process sends pushes. It must be quick and may fail."""
    global _presence
    _presence = presence


def look(questions: Sequence[Sighting]) -> Sequence[str]:
    if _presence is None or not questions:
        return [ABSENT] * len(questions)
    return _presence(questions)
