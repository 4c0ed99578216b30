"""The event log, the open sockets, the calls."""

from realtime.calls.models import Call, CallParty
from realtime.models.log import Event, Stream
from realtime.models.sockets import Socket

__all__ = ["Call", "CallParty", "Event", "Socket", "Stream"]
