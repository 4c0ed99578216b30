"""The socket status of devices, provided by the layer above.

This app may not import realtime. realtime registers one function when the process starts; until then no
device counts as connected.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

ABSENT = "absent"
CONNECTED = "connected"
SEEN = "seen"


class SocketStatusQuery(NamedTuple):
    """Has a socket of this user's session acknowledged the events written at `since`?"""

    user_id: int
    session_id: int
    since: datetime


# One answer per question, in order: `seen` when a socket of the session acknowledged everything that
# was written for the user up to `since`, `connected` when one is open that has not yet, else `absent`.
Presence = Callable[[Sequence[SocketStatusQuery]], Sequence[str]]

_presence: Presence | None = None


def register_presence(presence: Presence | None) -> None:
    """Registers the function in every process that sends pushes. It must be fast and may fail."""
    global _presence
    _presence = presence


def get_socket_statuses(questions: Sequence[SocketStatusQuery]) -> Sequence[str]:
    if _presence is None or not questions:
        return [ABSENT] * len(questions)
    return _presence(questions)
