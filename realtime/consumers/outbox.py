"""Sends the frames of one socket, in one task that runs only while there is work: replies and ephemeral frames first,
then the events of the user's log, then the unread counters.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from django.utils import translation
from rest_framework.settings import api_settings

from notifications import selectors as notifications
from realtime.close_codes import Close
from realtime.conf import conf
from realtime.consumers import protocol
from realtime.consumers.database import in_database
from realtime.consumers.hub import Hub
from realtime.consumers.log_reader import LogReader
from realtime.consumers.protocol import OpenSocket, Ref

logger = logging.getLogger("parley.realtime")

DROPPABLE_FRAMES = 64
FRAMES = 256
RETRY_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class Outbox:
    _socket: OpenSocket
    log: LogReader = field(init=False)
    _task: asyncio.Task[None] | None = None
    # Nearly always empty. A list, because an empty deque takes ten times the memory.
    _frames: list[str] = field(default_factory=list)
    # The start of the current send, by the clock of the event loop.
    _transmitting_at: float | None = None
    _badge: dict[str, int] | None = None
    _badge_at: float = 0

    def __post_init__(self) -> None:
        self.log = LogReader(self._socket, self._transmit, self._ensure_running)

    # --- Interface for the other parts of the socket -------------------------------------------

    def send_reply(self, ref: Ref, data: dict[str, Any]) -> None:
        self.send_text(protocol.reply(ref, data))

    def send_error(self, ref: Ref, error: Exception) -> None:
        """Sends the code and the message that REST gives, from the project's exception handler."""
        handler = cast(Callable[..., Any], api_settings.EXCEPTION_HANDLER)
        with translation.override(self._socket.language):
            body = handler(error, {}).data
        self.send_frame({"type": "reply", "ref": ref} | {key: body[key] for key in body if key != "request_id"})

    def send_frame(self, frame: dict[str, Any], *, droppable: bool = False) -> None:
        """Sends a reply or an ephemeral frame; a droppable one only while the client keeps up."""
        if droppable and (self.log.window.is_half_full() or self.is_full()):
            return
        self.send_text(protocol.write(frame))

    def send_text(self, text: str) -> None:
        if len(self._frames) >= FRAMES:
            self._socket.close_soon(Close.SLOW)
            return
        self._frames.append(text)
        self._ensure_running()

    def is_full(self) -> bool:
        """Whether too many replies wait, so that no more commands should be executed."""
        return len(self._frames) >= DROPPABLE_FRAMES

    def check_stuck(self, now: float) -> None:
        """Closes the socket if nothing could be sent for too long: the client does not read, or does not acknowledge."""
        since = self._transmitting_at or self.log.blocked_at
        if since is not None and now - since >= conf.STUCK_SECONDS:
            self._socket.close_soon(Close.SLOW)

    async def flush(self, seconds: float) -> None:
        """Waits until replies are sent, at most this long."""
        if self._frames:
            self._ensure_running()
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=seconds)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        Hub.here().sending.discard(self.check_stuck)

    # --- The task ------------------------------------------------------------------------------

    def _ensure_running(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        sending = Hub.here().sending
        sending.add(self.check_stuck)
        try:
            while await self._step():
                pass
        except OSError:
            pass  # the client has disconnected; the consumer is notified
        except Exception:
            logger.exception("a socket could not send; once more in a moment")
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._ensure_running)
        finally:
            if self.log.blocked_at is None or self._socket.is_closing:
                sending.discard(self.check_stuck)

    async def _step(self) -> bool:
        """Sends the next frames; False if there is nothing to send."""
        if self._frames:
            await self._transmit(self._frames.pop(0))
            return True
        if self._socket.is_closing:
            return False
        return await self.log.send_next() or await self._send_badge()

    async def _send_badge(self) -> bool:
        """Sends the unread counters if they may have changed, at most once in BADGE_SECONDS."""
        identity = self._socket.identity
        if identity is None or not self.log.is_badge_due or self.log.window.is_half_full():
            return False
        loop = asyncio.get_running_loop()
        wait = self._badge_at + conf.BADGE_SECONDS - loop.time()
        if wait > 0:
            loop.call_later(wait, self._ensure_running)
            return False
        self.log.is_badge_due = False
        self._badge_at = loop.time()
        try:
            badge = await in_database(notifications.counts, identity.user_id)
        except Exception:
            self.log.is_badge_due = True
            raise
        if badge != self._badge:
            self._badge = badge
            await self._transmit(protocol.write({"type": "badge", "data": badge}))
        return True

    async def _transmit(self, text: str) -> None:
        self._transmitting_at = asyncio.get_running_loop().time()
        try:
            await self._socket.send(text)
        except RuntimeError as error:
            # daphne's error for a client that has disconnected; uvicorn's is an OSError.
            raise ConnectionAbortedError from error
        self._transmitting_at = None
