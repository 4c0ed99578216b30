"""Sends the events of a user's log to one socket, in order and without gaps, as far as the window allows.

The window is the only flow control that works on every ASGI server: events of the log stop at 200 events or 512 KiB
that the client has not acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils import timezone

from realtime import selectors, socket_events
from realtime.conf import conf
from realtime.consumers import protocol
from realtime.consumers.database import in_database
from realtime.consumers.hub import Hub, run_in_background
from realtime.consumers.protocol import Identity, OpenSocket
from realtime.devices import Device
from realtime.selectors import LoggedEvent, UserEvents
from realtime.services import event_log, sockets

logger = logging.getLogger("parley.realtime")

BATCH = 200
RECORD_SECONDS = 0.25


class OutgoingEvent(NamedTuple):
    """An event ready to be sent."""

    seq: int
    text: str
    size: int
    moves_badge: bool
    # (conversation, message) if the event carries a message of the other participant.
    brings: tuple[int, int] | None


def render_batch(batch: Sequence[UserEvents]) -> list[list[OutgoingEvent]]:
    """The events of several sockets, ready to be sent."""
    return [
        [_outgoing(frame, part.device.user_id) for frame in frames]
        for part, frames in zip(batch, socket_events.render(batch), strict=True)
    ]


def _outgoing(frame: dict[str, Any], user_id: int) -> OutgoingEvent:
    kind, data = frame["type"], frame["data"]
    text = protocol.write(frame)
    brings = None
    if kind == "message.new" and data["message"]["sender_id"] != user_id:
        brings = data["conversation_id"], data["message"]["id"]
    return OutgoingEvent(frame["seq"], text, len(text.encode()), socket_events.EVENTS[kind].moves_badge, brings)


def _read_events(device: Device, seq: int, limit: int) -> list[OutgoingEvent]:
    [outgoing] = render_batch([UserEvents(device, selectors.events_after(device.user_id, seq, limit))])
    return outgoing


@dataclass(slots=True, eq=False)
class Window:
    """The events that a client was sent and has not acknowledged, and the record of its acknowledgements."""

    _socket: OpenSocket
    acked: int = 0
    # The sent events without their texts.
    _events: list[OutgoingEvent] = field(default_factory=list)
    _bytes: int = 0
    # The newest acknowledged message of each conversation that is not recorded yet.
    _delivered: dict[int, int] = field(default_factory=dict)
    _is_recording: bool = False

    def restart(self, seq: int) -> None:
        """The client has everything up to `seq` and nothing after it."""
        self.acked = seq
        self._events.clear()
        self._bytes = 0

    def add(self, event: OutgoingEvent) -> None:
        self._events.append(event._replace(text=""))
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
            run_in_background(self._record())

    def room(self) -> int:
        """How many more events may be sent."""
        return 0 if self._bytes >= conf.WINDOW_BYTES else conf.WINDOW_EVENTS - len(self._events)

    def is_half_full(self) -> bool:
        return len(self._events) * 2 > conf.WINDOW_EVENTS or self._bytes * 2 > conf.WINDOW_BYTES

    async def _record(self) -> None:
        recorded = 0
        try:
            while self.acked > recorded and self._socket.identity is not None:
                recorded = self.acked
                delivered, self._delivered = self._delivered, {}
                await in_database(
                    sockets.acknowledged,
                    socket_id=self._socket.id,
                    user_id=self._socket.identity.user_id,
                    seq=recorded,
                    delivered=delivered,
                )
                if not self._socket.is_closing:
                    await asyncio.sleep(RECORD_SECONDS)
        except Exception as error:
            logger.warning("receipts lost: %s", error.__class__.__name__)
        finally:
            self._is_recording = False


@dataclass(slots=True, eq=False)
class LogReader:
    _socket: OpenSocket
    _transmit: Callable[[str], Awaitable[None]]
    # Starts the task that calls `send_next`.
    _wake: Callable[[], None]
    window: Window = field(init=False)
    # Positions in the log: the last event that was sent, and the newest one.
    sent: int = 0
    head: int = 0
    # The time at which the window became full, by the clock of the event loop.
    blocked_at: float | None = None
    # An event was sent that may have changed the unread counters.
    is_badge_due: bool = False
    # New events that came with a wake-up.
    _inline: list[LoggedEvent] = field(default_factory=list)
    # The new message that came with the last of them: the number of its event, and its data.
    _copy: Sequence[Any] | None = None
    _resume: tuple[str | None, int] | None = None
    _sync_target: int | None = None

    def __post_init__(self) -> None:
        self.window = Window(self._socket)

    def start_at(self, seq: int, head: int = 0) -> None:
        """Starts with the event after `seq`. `head` is the newest event, if a later one is known."""
        self.sent, self.head = seq, max(seq, head)
        self._copy = None
        self.window.restart(seq)
        self.blocked_at = None

    def resume(self, epoch: str | None, seq: int) -> None:
        """Continues after `seq`, if that is still available."""
        self._resume = (epoch, seq)
        # The counters are not a durable event: the last frame may have been lost with the former connection.
        self.is_badge_due = True
        self._wake()

    def advance_head(self, head: int, events: Iterable[Sequence[Any]] = (), copy: Sequence[Any] | None = None) -> None:
        """Records that the log has grown to `head`. `events` may hold its last events, `copy` the message of one."""
        if head <= self.head:
            return
        # A later event may have changed the message that came with an earlier one.
        self._copy = copy
        # Usable only if the socket has sent everything before them.
        for event in events:
            is_next = event[0] == (self._inline[-1].seq if self._inline else self.sent) + 1
            if is_next and len(self._inline) < conf.WINDOW_EVENTS:
                self._inline.append(LoggedEvent.unpacked(event))
        self.head = head
        self._wake()

    async def poll_position(self) -> int:
        """Reads the end of the log, as a wake-up may have been missed."""
        Hub.here().rejoin(self._identity.user_id)
        position = await self._read_position()
        self.advance_head(position.head_seq)
        return position.head_seq

    def acknowledge(self, seq: int) -> None:
        """The client has everything up to `seq`."""
        self.window.acknowledge(seq)
        if self.window.room() > 0:
            self.blocked_at = None
        if self.head > self.sent or self.is_badge_due:
            self._wake()

    async def send_next(self) -> bool:
        """Sends the next events; False if there is nothing to send, or no room for it."""
        if self._resume is not None:
            await self._go_back(*self._resume)
            return True
        if self._sync_target is not None and self.sent >= self._sync_target:
            self._sync_target = None
            await self._transmit(protocol.write({"type": "synced", "data": {"seq": self.sent}}))
            return True
        if self.head <= self.sent:
            return False
        if self.window.room() <= 0:
            # A message that has to wait is read again when there is room, because it may have changed.
            self._copy = None
            self.blocked_at = self.blocked_at or asyncio.get_running_loop().time()
            return False
        await self._send_events()
        return True

    async def _send_events(self) -> None:
        identity = self._identity
        happened_at = None
        if self._inline and self._inline[0].seq == self.sent + 1:
            # The events are taken one by one, so that the first is sent while the next is being read. It stays in the
            # list meanwhile, so that the events of the next wake-up follow it.
            first = self._inline[0]
            happened_at = first.created_at
            if self._copy is not None and self._copy[0] == first.seq:
                complete = first._replace(data=self._copy[1])
                [outgoing] = render_batch([UserEvents(identity.device, [complete])])
            else:
                outgoing = await Hub.here().batched(render_batch, UserEvents(identity.device, [first]))
        else:
            self._inline.clear()
            limit = min(self.window.room(), BATCH)
            outgoing = await in_database(_read_events, identity.device, self.sent, limit)
        if not outgoing or outgoing[0].seq != self.sent + 1:
            await self._find_position()
            return
        for event in outgoing:
            if self._resume is not None or self.window.room() <= 0 or self._socket.is_closing:
                return
            await self._send_event(event)
        while self._inline and self._inline[0].seq <= self.sent:
            self._inline.pop(0)
        if happened_at is not None:
            event_log.DELIVERY_SECONDS.observe(max(0.0, (timezone.now() - happened_at).total_seconds()))

    async def _send_event(self, event: OutgoingEvent) -> None:
        self.sent = event.seq
        self.head = max(self.head, event.seq)
        self.window.add(event)
        self.is_badge_due = self.is_badge_due or event.moves_badge
        await self._transmit(event.text)

    async def _find_position(self) -> None:
        """Handles a missing next event: it was pruned, or the log has a new epoch."""
        position = await self._read_position()
        if reason := position.reset_reason(self.sent):
            await self._resync(reason, position.head_seq)
        else:
            self.head = position.head_seq

    async def _go_back(self, epoch: str | None, seq: int) -> None:
        position = await self._read_position()
        if self._resume == (epoch, seq):  # else the client has asked for another position meanwhile
            self._resume = None
        if reason := position.reset_reason(seq, epoch):
            await self._resync(reason, position.head_seq)
        else:
            self.start_at(seq, max(self.head, position.head_seq))
            # Resuming also acknowledges: the client has everything up to here.
            self.window.acknowledge(seq)
            self._sync_target = position.head_seq

    async def _resync(self, reason: str, seq: int) -> None:
        # A wake-up may have come while the position was read.
        self.start_at(seq, self.head)
        self._sync_target = None
        await self._transmit(protocol.write({"type": "resync", "data": {"reason": reason, "seq": seq}}))

    def _read_position(self) -> Awaitable[event_log.Position]:
        return Hub.here().batched(event_log.positions, self._identity.user_id)

    @property
    def _identity(self) -> Identity:
        identity = self._socket.identity
        assert identity is not None, "only a signed-in socket reads the log"
        return identity
