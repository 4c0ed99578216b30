"""The events that a client has been sent and has not acknowledged, and the record of what it has.

The window is the only flow control that works on every ASGI server: events of the log stop at 200 events or 512 KiB
that the client has not acknowledged.
"""

import asyncio
import logging
from typing import NamedTuple

from realtime.conf import conf
from realtime.consumers.database import in_database
from realtime.consumers.execution import OutgoingEvent
from realtime.consumers.hub import keep_until_done
from realtime.consumers.protocol import OpenSocket
from realtime.services import sockets

logger = logging.getLogger("parley.realtime")

RECORD_SECONDS = 0.25


class _Sent(NamedTuple):
    """What is kept of an event until it is acknowledged: not its text."""

    seq: int
    size: int
    brings: tuple[int, int] | None


class Window:
    __slots__ = ("_bytes", "_delivered", "_events", "_is_recording", "_socket", "acked")

    def __init__(self, socket: OpenSocket) -> None:
        self._socket = socket
        self.acked = 0
        self._events: list[_Sent] = []
        self._bytes = 0
        # The newest acknowledged message of each conversation that is not recorded yet.
        self._delivered: dict[int, int] = {}
        self._is_recording = False

    def restart(self, seq: int) -> None:
        """The client has everything up to `seq` and nothing after it."""
        self.acked = seq
        self._events.clear()
        self._bytes = 0

    def add(self, event: OutgoingEvent) -> None:
        self._events.append(_Sent(event.seq, event.size, event.brings))
        self._bytes += event.size

    def acknowledge(self, seq: int) -> None:
        """The client has everything up to `seq`; many acknowledgements become few writes."""
        while self._events and self._events[0].seq <= seq:
            event = self._events.pop(0)
            self.acked = event.seq
            self._bytes -= event.size
            if event.brings is not None:
                conversation_id, message_id = event.brings
                self._delivered[conversation_id] = max(message_id, self._delivered.get(conversation_id, 0))
        if not self._is_recording:
            self._is_recording = True
            keep_until_done(self._record())

    def room(self) -> int:
        """How many more events may be sent."""
        return 0 if self._bytes >= conf.WINDOW_BYTES else conf.WINDOW_EVENTS - len(self._events)

    def is_half_full(self) -> bool:
        return len(self._events) * 2 > conf.WINDOW_EVENTS or self._bytes * 2 > conf.WINDOW_BYTES

    async def _record(self) -> None:
        recorded = 0
        try:
            while self.acked > recorded and self._socket.caller is not None and not self._socket.is_closing:
                recorded = self.acked
                delivered, self._delivered = self._delivered, {}
                await in_database(
                    sockets.acknowledged,
                    socket_id=self._socket.id,
                    user_id=self._socket.caller.user_id,
                    seq=recorded,
                    delivered=delivered,
                )
                await asyncio.sleep(RECORD_SECONDS)
        except Exception as error:
            logger.warning("receipts lost: %s", error.__class__.__name__)
        finally:
            self._is_recording = False
