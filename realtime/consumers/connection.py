"""One socket from the handshake to the last frame.

The socket's own task only reads and never waits for the database. Commands go to the command processor
through a short queue, all sends go through the outbox; both run only while there is work.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from realtime.calls import services as calls
from realtime.conf import conf
from realtime.consumers.command_processor import CommandProcessor
from realtime.consumers.database import in_database
from realtime.consumers.handshake import Scope, bearer_of, has_query_token, is_allowed_origin, language_of
from realtime.consumers.hub import Hub, keep_until_done
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import Close, Message, Send
from realtime.kinds import SocketRef
from realtime.services import presence, sockets

logger = logging.getLogger("parley.realtime")

Receive = Callable[[], Awaitable[Message]]
CLOSE_SECONDS = 5.0
FLUSH_SECONDS = 1.0


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application behind the socket's path."""
    if not is_allowed_origin(scope.get("headers", ())):
        await refuse(scope, receive, send)
        return
    await Connection(scope, receive, send).run()


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Rejects the handshake with 403."""
    await receive()
    await send({"type": "websocket.close", "code": Close.FORBIDDEN.value})


class Connection:
    __slots__ = (
        "__weakref__",
        "_buffered",
        "_closing",
        "_deadline",
        "_expires_at",
        "_expiry_announced",
        "_lives_until",
        "_main",
        "_receive",
        "_token",
        "_token_in_query",
        "_worker",
        "asked_language",
        "generation",
        "hub",
        "id",
        "language",
        "outbox",
        "send",
        "session_id",
        "sid",
        "user_id",
        "watched_ids",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.id = secrets.token_hex(8)
        self.user_id = 0
        self.session_id = 0
        # Of the token that opened or last renewed the socket.
        self.generation = 0
        self.sid = UUID(int=0)
        self.asked_language = language_of(scope)
        self.language = self.asked_language or "en"
        # The users whose presence the client watches.
        self.watched_ids: frozenset[int] = frozenset()
        self.send = send
        self.hub = Hub.here()
        self.outbox = Outbox(self, self.hub)
        self._worker = CommandProcessor(self, self.outbox, self.hub)
        self._receive = receive
        self._token = bearer_of(scope)
        self._token_in_query = has_query_token(scope)
        self._main: asyncio.Task[Any] | None = None
        # Messages that arrived between joining the group and `ready`.
        self._buffered: list[Message] | None = []
        self._closing: tuple[int, str] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._lives_until = 0.0
        self._expires_at: float | None = None
        self._expiry_announced = False

    @property
    def device(self) -> SocketRef:
        return SocketRef(self.session_id, self.id)

    @property
    def token(self) -> tuple[int, int]:
        """The session and the generation of the token that authenticates the socket."""
        return self.session_id, self.generation

    @property
    def is_ready(self) -> bool:
        return self.session_id != 0 and self._closing is None

    @property
    def is_closing(self) -> bool:
        return self._closing is not None

    # --- Reading -------------------------------------------------------------------------------

    async def run(self) -> None:
        self._main = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if (await self._receive())["type"] != "websocket.connect":
            return
        await self.send({"type": "websocket.accept"})
        self._lives_until = loop.time() + conf.LIFE_SECONDS * random.uniform(0.95, 1.0)
        if self._token_in_query:
            self.close(Close.UNAUTHORISED, "token_in_query")
        elif self._token is not None:
            self._worker.authenticate_by_header(self._token)
            self._token = None
        else:
            self._deadline = loop.call_later(conf.AUTH_SECONDS, self.close, Close.SLOW, "no_auth")
        try:
            while True:
                message = await self._receive()
                if message["type"] == "websocket.disconnect":
                    break
                if self._closing is None:
                    self._take(message)
                    # Many frames may be buffered: yield to the command processor between them.
                    await asyncio.sleep(0)
        except asyncio.CancelledError:
            if self._closing is None:
                raise
        finally:
            self._end()

    def _take(self, message: Message) -> None:
        text = message.get("text")
        if text is None:
            self.close(Close.BAD_FRAME, "binary")
        elif len(text) > conf.FRAME_BYTES or len(text.encode("utf-8", "surrogatepass")) > conf.FRAME_BYTES:
            self.close(Close.TOO_BIG, "too_big")
        else:
            self._worker.take(text)

    def _end(self) -> None:
        if self._closing is None:
            self._closing = (1000, "")
        if self._deadline is not None:
            self._deadline.cancel()
        self.outbox.stop()
        self._worker.stop()
        self.hub.sending.discard(self)
        if self.user_id:
            self.hub.leave(self.user_id, self)
        if self.session_id:
            keep_until_done(_forget(self.user_id, self.id))

    # --- Messages from the hub -----------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Handles a message of realtime.groups. Called on the event loop; must not block."""
        if not self.is_ready:
            if self._buffered is not None and not self.is_closing:
                self._buffered.append(message)
            return
        kind = message["type"]
        if kind == "new_events":
            self.outbox.advance_head(message["seq"], message.get("events", ()))
        elif kind == "frame":
            if message.get("only", self.id) == self.id and message.get("but") != self.id:
                self._pass_on(message["frame"], message.get("droppable", True))
        elif kind == "watch":
            if message["only"] == self.id:
                self.watched_ids = frozenset(message["watched_ids"])
        elif kind == "end":
            if self.session_id in message["session_ids"]:
                self.end(message["code"])
        elif kind == "too_many_sockets":
            if self.id in message["socket_ids"]:
                self.close(Close.TOO_MANY, "too_many_sockets")
        elif kind == "recheck":
            self._worker.recheck()

    def _pass_on(self, frame: dict[str, Any], droppable: bool) -> None:
        if frame["type"] != "presence" or frame["data"]["user_id"] in self.watched_ids:
            self.outbox.send_frame(frame, droppable=droppable)

    def replay_buffered(self) -> None:
        """The socket is ready: handles the messages that arrived during sign-in."""
        buffered, self._buffered = self._buffered or [], None
        for message in buffered:
            self.on_message(message)

    def poll_position(self) -> None:
        """A wake-up may have been missed: reads the position of the log."""
        if self.is_ready:
            self._worker.poll_position()

    def end(self, code: str) -> None:
        """The session is over."""
        self.close(Close.UNAUTHORISED, code)

    def check_stuck(self, now: float) -> None:
        if self.outbox.is_stuck(now):
            self.close(Close.SLOW, "slow")

    # --- Signed in -----------------------------------------------------------------------------

    def signed_in(self, *, session_id: int, generation: int, sid: UUID, language: str, token_expires_at: int) -> None:
        """A token was accepted: the first one, or a new one of the same user."""
        self.session_id = session_id
        self.generation = generation
        self.sid = sid
        self.language = self.asked_language or language
        self._expiry_announced = False
        remaining = token_expires_at - timezone.now().timestamp()
        self._expires_at = asyncio.get_running_loop().time() + remaining
        self._set_timer()

    def _set_timer(self) -> None:
        """Sets the timer to the earliest of the expiry warning, the token's expiry and the socket's maximum age."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._closing is not None or self._expires_at is None:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now >= self._expires_at:
            self.close(Close.UNAUTHORISED, "token_expired")
            return
        if now >= self._lives_until:
            self.outbox.send_frame({"type": "goaway", "data": {"retry_ms": random.randint(500, 5000)}})
            self.close(Close.RESTART, "goaway")
            return
        warning = self._expires_at - conf.EXPIRING_SECONDS
        if now >= warning and not self._expiry_announced:
            self._expiry_announced = True
            expires_at = timezone.now() + timedelta(seconds=self._expires_at - now)
            self.outbox.send_frame({"type": "auth.expiring", "data": {"expires_at": expires_at}})
        moments = [self._expires_at, self._lives_until]
        if not self._expiry_announced:
            moments.append(warning)
        self._deadline = loop.call_at(min(moments), self._set_timer)

    # --- The end -------------------------------------------------------------------------------

    def close(self, code: int, reason: str) -> None:
        """Closes the socket with a code that the client acts on; only the first call has an effect."""
        if self._closing is None:
            self._closing = (code, reason)
            keep_until_done(self._close(code, reason))

    async def _close(self, code: int, reason: str) -> None:
        await self.outbox.flush(FLUSH_SECONDS)
        self.outbox.stop()
        try:
            # A plain number: daphne refuses a member of an enum.
            closing = self.send({"type": "websocket.close", "code": int(code), "reason": reason})
            await asyncio.wait_for(closing, CLOSE_SECONDS)
        except (OSError, RuntimeError, TimeoutError):
            pass  # it has disconnected, or does not read even this
        if self._main is not None:
            # The ASGI server sends "disconnect" now; without it the task ends, too.
            asyncio.get_running_loop().call_later(3 * CLOSE_SECONDS, self._main.cancel)


async def _forget(user_id: int, socket_id: str) -> None:
    try:
        await in_database(_gone, user_id, socket_id)
    except Exception as error:
        logger.info("a closed socket stays listed until the next purge: %s", error.__class__.__name__)


def _gone(user_id: int, socket_id: str) -> None:
    sockets.closed(socket_id=socket_id)
    calls.note_closed(user_id=user_id, socket_id=socket_id)
    presence.user_disconnected(user_id=user_id)
