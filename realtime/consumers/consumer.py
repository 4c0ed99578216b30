"""The WebSocket entry point: one consumer for each open socket.

A consumer connects its parts: authentication, the queue that executes the client's commands, and the outbox that
sends. It passes them what arrives from the client and, through the hub of the process, from other processes.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import timezone

from realtime import wakeups
from realtime.calls import services as calls
from realtime.close_codes import Close
from realtime.conf import conf
from realtime.consumers.authentication import Authentication
from realtime.consumers.command_queue import CommandQueue
from realtime.consumers.hub import Hub, run_in_background
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import Identity, Message, Receive, Scope, Send
from realtime.services import presence, sockets

logger = logging.getLogger("parley.realtime")

CLOSE_SECONDS = 5.0
FLUSH_SECONDS = 1.0
RECORD_SECONDS = 0.1


class RealtimeConsumer(AsyncWebsocketConsumer):
    def __init__(self) -> None:
        super().__init__()
        self.id = secrets.token_hex(8)
        # The user and token of the socket.
        self.identity: Identity | None = None
        # The language of the client, or of its user once signed in.
        self.language: str = settings.LANGUAGE_CODE
        # The users whose presence the client watches.
        self.watched_ids: frozenset[int] = frozenset()
        self.outbox = Outbox(self)
        self.authentication = Authentication(self, self.outbox)
        self.commands = CommandQueue(self, self.outbox, self.authentication)
        self._task: asyncio.Task[Any] | None = None
        self.is_closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles the messages of the ASGI server.

        Unlike Channels' own consumers, it has no channel: the hub of the process has one for all sockets. That saves
        two tasks for each socket.
        """
        self.scope, self.base_send = scope, send
        self._task = asyncio.current_task()
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        except asyncio.CancelledError:
            if not self.is_closing:
                raise
        finally:
            self._stop()
            # An ASGI server that stops waits for its own tasks only.
            await asyncio.shield(run_in_background(self._forget()))

    async def dispatch(self, message: Message) -> None:
        """Calls the handler of the message's type.

        Channels would first close old database connections, in a thread that all sockets share; `in_database` tests
        those that it uses.
        """
        await getattr(self, get_handler_name(message))(message)

    # --- Messages from the client --------------------------------------------------------------

    async def connect(self) -> None:
        await self.accept()
        await self.authentication.start(self.scope)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.is_closing:
            return
        if text_data is None:
            self.close_soon(Close.BAD_FRAME, "binary")
        elif len(text_data) > conf.FRAME_BYTES or len(text_data.encode("utf-8", "surrogatepass")) > conf.FRAME_BYTES:
            self.close_soon(Close.BAD_FRAME, "too_big")
        else:
            self.commands.take(text_data)
            # Many frames may be buffered; the queue gets its turn between them.
            await asyncio.sleep(0)

    async def websocket_disconnect(self, message: Message) -> None:
        """Channels' own method would leave groups and close database connections; a socket has neither."""
        raise StopConsumer

    # --- Messages from the hub -----------------------------------------------------------------

    def on_message(self, message: wakeups.Message) -> None:
        """Calls the handler of a message of realtime.wakeups. Runs on the event loop; must not block."""
        if self.is_closing:
            return
        if self.identity is None:
            self.authentication.hold(message)
        else:
            getattr(self, f"on_{message['type']}")(message)

    def on_new_events(self, message: wakeups.NewEvents) -> None:
        self.outbox.log.advance_head(message["seq"], message.get("events", ()), message.get("copy"))

    def on_frame(self, message: wakeups.Frame) -> None:
        frame = message["frame"]
        if message.get("only", self.id) != self.id:
            return
        if frame["type"] != "presence" or frame["data"]["user_id"] in self.watched_ids:
            self.outbox.send_frame(frame, droppable=message["droppable"])

    def on_watch(self, message: wakeups.Watch) -> None:
        if message["only"] == self.id:
            self.watched_ids = frozenset(message["watched_ids"])

    def on_end(self, message: wakeups.End) -> None:
        if self.identity is not None and self.identity.session_id in message["session_ids"]:
            self.close_soon(Close.UNAUTHORISED, message["code"])

    def on_too_many_sockets(self, message: wakeups.TooManySockets) -> None:
        if self.id in message["socket_ids"]:
            self.close_soon(Close.TOO_MANY)

    def on_recheck(self, _message: wakeups.Recheck) -> None:
        run_in_background(self.authentication.recheck())

    def on_poll_position(self, _message: wakeups.PollPosition) -> None:
        run_in_background(self.outbox.log.poll_position())

    # --- The end -------------------------------------------------------------------------------

    def close_soon(self, code: Close, reason: str | None = None) -> None:
        """Closes the socket after its last replies, with a code that the client acts on, for its usual reason or the given
        one; the first call counts."""
        if not self.is_closing:
            self.is_closing = True
            run_in_background(self._close(code, reason or code.reason))

    async def _close(self, code: Close, reason: str) -> None:
        await self.outbox.flush(FLUSH_SECONDS)
        self.outbox.stop()
        # The client may have disconnected, or may not read.
        with suppress(OSError, RuntimeError, TimeoutError):
            # daphne needs a plain number and refuses an enum.
            await asyncio.wait_for(self.close(int(code), reason), CLOSE_SECONDS)
        if self._task is not None:
            # The ASGI server sends "disconnect" now. If it does not, the task still ends.
            asyncio.get_running_loop().call_later(3 * CLOSE_SECONDS, self._task.cancel)

    def _stop(self) -> None:
        self.is_closing = True
        self.outbox.stop()
        self.commands.stop()
        self.authentication.stop()

    async def _forget(self) -> None:
        identity = await self.authentication.recorded_identity()
        if identity is None:
            return
        try:
            # Many sockets may close at about the same time; a few statements record all of them.
            await Hub.here().batched(record_closed, identity, pause=RECORD_SECONDS)
        except Exception as error:
            logger.info("a closed socket stays listed until the next purge: %s", error.__class__.__name__)


def record_closed(batch: Sequence[Identity]) -> list[None]:
    """Deletes the rows of closed sockets, then tells their calls and the contacts who watch their users."""
    socket_ids = [closed.socket_id for closed in batch]
    sockets.closed(socket_ids=socket_ids)
    calls.socket_closed(socket_ids=socket_ids)
    presence.users_disconnected(user_ids={closed.user_id for closed in batch}, at=timezone.now())
    return [None] * len(batch)
