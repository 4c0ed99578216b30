"""The device that acts: what requests, socket commands, events of the log and calls know of a connection."""

from typing import NamedTuple


class Device(NamedTuple):
    """A user's session and, over the real-time channel, its socket."""

    user_id: int
    session_id: int
    # Empty for a REST request.
    socket_id: str = ""
