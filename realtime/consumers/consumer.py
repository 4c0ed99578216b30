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

from realtime import groups
from realtime.calls import services as calls
from realtime.conf import conf
from realtime.consumers.authentication import Authentication
from realtime.consumers.command_queue import CommandQueue
from realtime.consumers.hub import Hub, keep_until_done
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import Identity, Message, Receive, Scope, Send
from realtime.kinds import Close
from realtime.services import presence, sockets

logger = logging.getLogger("parley.realtime")

CLOSE_SECONDS = 5.0
FLUSH_SECONDS = 1.0
RECORD_SECONDS = 0.1


class RealtimeConsumer(AsyncWebsocketConsumer):
    def __init__(self) -> None:
        super().__init__()
        self.id = secrets.token_hex(8)
        # The user and token that the socket is signed in with.
        self.identity: Identity | None = None
        # Of the client, or of its user once signed in.
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

        Unlike Channels' own, it has no channel: the hub of the process has one for all sockets. That saves two tasks
        for each socket.
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
            # An ASGI server that stops waits for its tasks, but not for others.
            await asyncio.shield(keep_until_done(self._forget()))

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
            # Many frames may be buffered: the queue works between them.
            await asyncio.sleep(0)

    async def websocket_disconnect(self, message: Message) -> None:
        """Channels' own would leave groups and close database connections, of which a socket has none."""
        raise StopConsumer

    # --- Messages from the hub -----------------------------------------------------------------

    def on_message(self, message: groups.Message) -> None:
        """Calls the handler of a message of realtime.groups. Runs on the event loop; must not block."""
        if self.is_closing:
            return
        if self.identity is None:
            self.authentication.hold(message)
        else:
            getattr(self, f"on_{message['type']}")(message)

    def on_new_events(self, message: groups.NewEvents) -> None:
        self.outbox.log.advance_head(message["seq"], message.get("events", ()), message.get("copy"))

    def on_frame(self, message: groups.Frame) -> None:
        frame = message["frame"]
        if message.get("only", self.id) != self.id:
            return
        if frame["type"] != "presence" or frame["data"]["user_id"] in self.watched_ids:
            self.outbox.send_frame(frame, droppable=message["droppable"])

    def on_watch(self, message: groups.Watch) -> None:
        if message["only"] == self.id:
            self.watched_ids = frozenset(message["watched_ids"])

    def on_end(self, message: groups.End) -> None:
        if self.identity is not None and self.identity.session_id in message["session_ids"]:
            self.close_soon(Close.UNAUTHORISED, message["code"])

    def on_too_many_sockets(self, message: groups.TooManySockets) -> None:
        if self.id in message["socket_ids"]:
            self.close_soon(Close.TOO_MANY)

    def on_recheck(self, _message: groups.Recheck) -> None:
        keep_until_done(self.authentication.recheck())

    def on_poll_position(self, _message: groups.PollPosition) -> None:
        keep_until_done(self.outbox.log.poll_position())

    # --- The end -------------------------------------------------------------------------------

    def close_soon(self, code: Close, reason: str | None = None) -> None:
        """Closes the socket after its last replies, with a code that the client acts on, for its usual reason or the given
        one; the first call counts."""
        if not self.is_closing:
            self.is_closing = True
            keep_until_done(self._close(code, reason or code.reason))

    async def _close(self, code: Close, reason: str) -> None:
        await self.outbox.flush(FLUSH_SECONDS)
        self.outbox.stop()
        # Suppressed: the client has disconnected, or does not read even this.
        with suppress(OSError, RuntimeError, TimeoutError):
            # A plain number: daphne refuses a member of an enum.
            await asyncio.wait_for(self.close(int(code), reason), CLOSE_SECONDS)
        if self._task is not None:
            # The ASGI server sends "disconnect" now; without it the task ends, too.
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
            # Many may close one after the other: a few statements record all of them.
            await Hub.here().batched(record_closed, identity, pause=RECORD_SECONDS)
        except Exception as error:
            logger.info("a closed socket stays listed until the next purge: %s", error.__class__.__name__)


def record_closed(batch: Sequence[Identity]) -> list[None]:
    """Sockets closed: deletes their rows, then notes the loss for their calls and for those who watch their users."""
    socket_ids = [closed.socket_id for closed in batch]
    sockets.closed(socket_ids=socket_ids)
    calls.note_closed(socket_ids=socket_ids)
    presence.users_disconnected(user_ids={closed.user_id for closed in batch}, at=timezone.now())
    return [None] * len(batch)
