"""Small types that all layers of this app share."""

from typing import NamedTuple


class SocketRef(NamedTuple):
    """The origin of a command: a session and, over the real-time channel, its socket."""

    session_id: int
    # Empty for a REST request.
    socket_id: str = ""
