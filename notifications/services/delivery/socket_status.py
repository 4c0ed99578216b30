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


# One status per query, in order: `seen` when a socket of the session acknowledged everything that
# was written for the user up to `since`, `connected` when one is open that has not yet, else `absent`.
Statuses = Callable[[Sequence[SocketStatusQuery]], Sequence[str]]

_statuses: Statuses | None = None


def register_socket_statuses(statuses: Statuses | None) -> None:
    """Registers the function in every process that sends pushes. It must be fast and may fail."""
    global _statuses
    _statuses = statuses


def get_socket_statuses(queries: Sequence[SocketStatusQuery]) -> Sequence[str]:
    if _statuses is None or not queries:
        return [ABSENT] * len(queries)
    return _statuses(queries)
