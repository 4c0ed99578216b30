"""Sends the frames of one socket, in one task: replies, ephemeral frames, and the user's log after `sent`.

The window is the only flow control that works on every ASGI server: durable events stop at 200 events or
512 KiB that the client has not acknowledged; droppable frames are skipped from half of that on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from realtime import socket_events
from realtime.conf import conf
from realtime.consumers import protocol
from realtime.consumers.database import in_database
from realtime.consumers.execution import read_events, render_events, unpack_event
from realtime.consumers.hub import Hub
from realtime.consumers.protocol import Close, OpenSocket
from realtime.measures import DELIVERY_SECONDS
from realtime.selectors import LoggedEvent
from realtime.services import log

logger = logging.getLogger("parley.realtime")

OUTBOX_DROPPABLE = 64
OUTBOX_FULL = 256
RETRY_SECONDS = 1.0
BATCH = 200


class Outbox:
    __slots__ = (
        "_badge",
        "_badge_at",
        "_badge_due",
        "_blocked_at",
        "_connection",
        "_hub",
        "_inline",
        "_outbox",
        "_resume",
        "_sync_target",
        "_task",
        "_transmitting_at",
        "_unacked",
        "_unacked_bytes",
        "acked",
        "head",
        "sent",
    )

    def __init__(self, connection: OpenSocket, hub: Hub) -> None:
        self._connection = connection
        self._hub = hub
        # A list, as it is nearly always empty: an empty deque takes ten times the memory.
        self._outbox: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self.sent = self.head = self.acked = 0
        self._unacked: list[tuple[int, int, tuple[int, int] | None]] = []
        self._unacked_bytes = 0
        self._inline: list[LoggedEvent] = []
        self._resume: tuple[str | None, int] | None = None
        self._sync_target: int | None = None
        self._transmitting_at: float | None = None
        self._blocked_at: float | None = None
        self._badge: dict[str, int] | None = None
        self._badge_at = 0.0
        self._badge_due = False

    # --- Interface for the other parts of the socket -------------------------------------------

    def send_frame(self, frame: dict[str, Any], *, droppable: bool = False) -> None:
        """Sends a reply or an ephemeral frame; a droppable one only while the client keeps up."""
        if droppable and (self._is_half_full() or len(self._outbox) >= OUTBOX_DROPPABLE):
            return
        self.send_text(protocol.write(frame))

    def send_text(self, text: str) -> None:
        if len(self._outbox) >= OUTBOX_FULL:
            self._connection.close(Close.SLOW, "slow")
            return
        self._outbox.append(text)
        self.ensure_running()

    def is_full(self) -> bool:
        """Too many replies wait: no more commands should be executed."""
        return len(self._outbox) >= OUTBOX_DROPPABLE

    def start_at(self, seq: int) -> None:
        """Starts sending with the event after `seq`."""
        self.sent = self.acked = self.head = seq

    def resume(self, epoch: str | None, seq: int) -> None:
        """Continues from `seq` of the log, if that is still available."""
        self._resume = (epoch, seq)
        self.ensure_running()

    def advance_head(self, head: int, events: Iterable[Sequence[Any]] = ()) -> None:
        """Records that the log has grown to `head`; `events` may hold its last events."""
        if head > self.head:
            # Usable only if the socket has sent everything before them.
            for event in events:
                if event[0] == (self._inline[-1].seq if self._inline else self.sent) + 1:
                    self._inline.append(unpack_event(event))
            self.head = head
            self.ensure_running()

    def ack(self, seq: int) -> dict[int, int]:
        """Records that the client has everything up to `seq`; returns the newest message per conversation in it."""
        delivered: dict[int, int] = {}
        while self._unacked and self._unacked[0][0] <= seq:
            self.acked, size, brings = self._unacked.pop(0)
            self._unacked_bytes -= size
            if brings is not None:
                delivered[brings[0]] = max(brings[1], delivered.get(brings[0], 0))
        if self._blocked_at is not None and self._room() > 0:
            self._blocked_at = None
        if self.head > self.sent or self._badge_due:
            self.ensure_running()
        return delivered

    def is_stuck(self, now: float) -> bool:
        """Nothing could be sent for too long: the client does not read, or does not acknowledge."""
        since = self._transmitting_at or self._blocked_at
        return since is not None and now - since >= conf.STUCK_SECONDS

    def ensure_running(self) -> None:
        """Makes sure that the task runs."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def flush(self, seconds: float) -> None:
        """Waits until replies are sent, at most this long."""
        if self._outbox:
            self.ensure_running()
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=seconds)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    # --- The task ------------------------------------------------------------------------------

    async def _run(self) -> None:
        self._hub.sending.add(self._connection)
        try:
            while await self._step():
                pass
        except OSError:
            pass  # the client has disconnected; the socket's own task is notified
        except Exception:
            logger.exception("a socket could not send; once more in a moment")
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._ensure_running_if_open)
        finally:
            if self._blocked_at is None:
                self._hub.sending.discard(self._connection)

    def _ensure_running_if_open(self) -> None:
        if not self._connection.is_closing:
            self.ensure_running()

    async def _step(self) -> bool:
        """Sends the next frames; False if there is nothing to send."""
        if self._outbox:
            await self._transmit(self._outbox.pop(0))
            return True
        if self._connection.is_closing:
            return False
        if self._resume is not None:
            await self._go_back(*self._resume)
            return True
        if self._sync_target is not None and self.sent >= self._sync_target:
            self._sync_target = None
            await self._transmit(protocol.write({"type": "synced", "data": {"seq": self.sent}}))
            return True
        if self.head > self.sent:
            if self._room() <= 0:
                self._blocked_at = self._blocked_at or asyncio.get_running_loop().time()
                return False
            await self._send_events()
            return True
        return await self._send_badge()

    async def _send_events(self) -> None:
        user_id = self._connection.user_id
        happened_at = None
        if self._inline and self._inline[0].seq == self.sent + 1:
            # One by one: the first is sent while the next is still being read.
            events = [self._inline.pop(0)]
            happened_at = events[0].created_at
            outgoing = await in_database(render_events, user_id, events, self._connection.device)
        else:
            self._inline.clear()
            limit = min(self._room(), BATCH)
            outgoing = await in_database(read_events, user_id, self.sent, limit, self._connection.device)
        if not outgoing or outgoing[0].seq != self.sent + 1:
            await self._lost_track(user_id)
            return
        for event in outgoing:
            if self._resume is not None or self._room() <= 0 or self._connection.is_closing:
                return
            self.sent = event.seq
            self.head = max(self.head, event.seq)
            self._unacked.append((event.seq, event.size, event.brings))
            self._unacked_bytes += event.size
            self._badge_due = self._badge_due or event.moves_badge
            await self._transmit(event.text)
        if happened_at is not None:
            DELIVERY_SECONDS.observe(max(0.0, (timezone.now() - happened_at).total_seconds()))

    async def _lost_track(self, user_id: int) -> None:
        """The next event is missing: it was pruned, or the log has a new epoch."""
        position = await in_database(log.position, user_id)
        if position.min_seq > self.sent or position.head_seq < self.sent:
            await self._resync("too_old" if position.min_seq > self.sent else "ahead", position.head_seq)
        else:
            self.head = position.head_seq

    async def _go_back(self, epoch: str | None, seq: int) -> None:
        position = await in_database(log.position, self._connection.user_id)
        self._resume = None
        if epoch is not None and epoch != position.epoch:
            await self._resync("epoch", position.head_seq)
        elif seq < position.min_seq:
            await self._resync("too_old", position.head_seq)
        elif seq > position.head_seq:
            await self._resync("ahead", position.head_seq)
        else:
            self._forget_window(seq)
            self.head = max(self.head, position.head_seq)
            self._sync_target = position.head_seq

    async def _resync(self, reason: str, seq: int) -> None:
        self._forget_window(seq)
        self.head = seq
        self._sync_target = None
        await self._transmit(protocol.write({"type": "resync", "data": {"reason": reason, "seq": seq}}))

    def _forget_window(self, seq: int) -> None:
        self.sent = self.acked = seq
        self._unacked.clear()
        self._unacked_bytes = 0
        self._blocked_at = None

    async def _send_badge(self) -> bool:
        if not self._badge_due or self._is_half_full():
            return False
        loop = asyncio.get_running_loop()
        wait = self._badge_at + conf.BADGE_SECONDS - loop.time()
        if wait > 0:
            loop.call_later(wait, self._ensure_running_if_open)
            return False
        self._badge_due = False
        self._badge_at = loop.time()
        badge = await in_database(socket_events.badge, self._connection.user_id)
        if badge != self._badge:
            self._badge = badge
            await self._transmit(protocol.write({"type": "badge", "data": badge}))
        return True

    async def _transmit(self, text: str) -> None:
        self._transmitting_at = asyncio.get_running_loop().time()
        await self._connection.send({"type": "websocket.send", "text": text})
        self._transmitting_at = None

    # --- The window ----------------------------------------------------------------------------

    def _room(self) -> int:
        if self._unacked_bytes >= conf.WINDOW_BYTES:
            return 0
        return conf.WINDOW_EVENTS - len(self._unacked)

    def _is_half_full(self) -> bool:
        return len(self._unacked) * 2 > conf.WINDOW_EVENTS or self._unacked_bytes * 2 > conf.WINDOW_BYTES
