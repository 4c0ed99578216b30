"""Small words that every floor of this app shares."""

from typing import NamedTuple


class Device(NamedTuple):
    """Where somebody speaks from: a sign-in and, over the channel, the one socket of it."""

    session_id: int
    # Empty for a REST request.
    socket_id: str = ""
