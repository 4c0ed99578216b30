"""The event log and the open sockets."""

from realtime.models.log import Event, Stream
from realtime.models.sockets import Socket

__all__ = ["Event", "Socket", "Stream"]
