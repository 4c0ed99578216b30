"""The sockets of one process (one event loop): receives wake-ups and passes them to the sockets of their user.

One subscription per user and one reading task per process, for any number of sockets. Correctness does
not depend on wake-ups: the sweep compares all sockets with the database, and so does every ping.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer
from django.utils import timezone

from accounts.sign_in import sessions
from core.conf import project
from realtime import selectors, wakeups
from realtime.calls import services as calls
from realtime.close_codes import Close
from realtime.conf import conf
from realtime.consumers.database import Answer, Batcher, Question, in_database
from realtime.consumers.protocol import Identity, OpenSocket
from realtime.services import presence
from realtime.services import sockets as socket_service

logger = logging.getLogger("parley.realtime")

JOIN_SECONDS = 1.0
RETRY_SECONDS = 1.0
# A client that reconnects at once finds its subscription still open.
LINGER_SECONDS = 2.0
TICK_SECONDS = 1.0
SWEEP_CHUNK = 500
SWEEPS_BEFORE_PURGE = 3


# One subscription for all sockets of a user, one query for many sockets: docs/decisions/real-time.md#0048
class Hub:
    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self.sockets: dict[int, set[OpenSocket]] = {}
        # One function for each outbox that is sending now; it checks, at the given time, whether the client reads.
        self.sending: set[Callable[[float], None]] = set()
        self.sign_ins = asyncio.Semaphore(conf.SIGN_INS_AT_ONCE)
        self._batchers: dict[Callable[..., Any], Batcher[Any, Any]] = {}
        self._joined: set[int] = set()
        self._joining: dict[int, asyncio.Task[None]] = {}
        self._channel: str | None = None
        self._has_channel = asyncio.Event()
        # Consecutive sweeps without a failure.
        self._sweeps = 0
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    def here(cls) -> Hub:
        """The hub of the running loop."""
        loop = asyncio.get_running_loop()
        hub = cls._of_loop.get(loop)
        if hub is None:
            hub = cls._of_loop[loop] = cls()
        return hub

    def batched(
        self, answer: Callable[[Sequence[Question]], list[Answer]], question: Question, *, pause: float = 0
    ) -> Awaitable[Answer]:
        """The answer to one question. `answer` gets the questions that all sockets of the process ask at that time. A
        question within `pause` seconds of the last batch waits until then."""
        batcher = self._batchers.get(answer)
        if batcher is None:
            batcher = self._batchers[answer] = Batcher(answer, pause)
        return batcher(question)

    # --- Sockets come and go -------------------------------------------------------------------

    async def join(self, user_id: int, socket: OpenSocket) -> None:
        """Subscribes the socket to the messages for this user. While Redis is unavailable, the sweep replaces them."""
        self.sockets.setdefault(user_id, set()).add(socket)
        self.start()
        if not project.REDIS_URL or user_id in self._joined:
            return
        await asyncio.wait({self._subscribe(user_id)}, timeout=JOIN_SECONDS)

    def rejoin(self, user_id: int) -> None:
        """Renews the subscription if it is missing; every ping calls this."""
        if project.REDIS_URL and user_id not in self._joined and user_id in self.sockets:
            self._subscribe(user_id)

    def leave(self, user_id: int, socket: OpenSocket) -> None:
        sockets = self.sockets[user_id]
        sockets.remove(socket)
        if not sockets:
            del self.sockets[user_id]
            if user_id in self._joined:
                run_in_background(self._unsubscribe(user_id))

    def deliver(self, message: wakeups.Message) -> None:
        """Passes a message of realtime.wakeups to the sockets of its user in this process."""
        for socket in tuple(self.sockets.get(message.get("user_id", 0), ())):
            try:
                socket.on_message(message)
            except Exception:
                # The other sockets still get it, and the process continues to listen.
                logger.exception("a socket could not take a %s", message.get("type"))

    # --- Subscriptions -------------------------------------------------------------------------

    def _subscribe(self, user_id: int) -> asyncio.Task[None]:
        task = self._joining.get(user_id)
        if task is None:
            task = self._joining[user_id] = asyncio.ensure_future(self._join_group(user_id))
            task.add_done_callback(lambda _: self._joining.pop(user_id, None))
        return task

    async def _join_group(self, user_id: int) -> None:
        """Tries until it succeeds or no socket is left. Then the waiting sockets read the position of the log."""
        layer = get_channel_layer()
        started = time.monotonic()
        await self._has_channel.wait()
        while user_id in self.sockets:
            try:
                await layer.group_add(wakeups.group_of(user_id), self._channel)
                break
            except Exception as error:
                logger.warning("no subscription yet: %s", error.__class__.__name__)
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return
        self._joined.add(user_id)
        if user_id not in self.sockets:  # the last one has closed meanwhile
            run_in_background(self._unsubscribe(user_id))
        if time.monotonic() - started > JOIN_SECONDS / 2:
            self.deliver(wakeups.PollPosition(type="poll_position", user_id=user_id))

    async def _unsubscribe(self, user_id: int) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        if user_id in self.sockets or user_id not in self._joined:
            return
        self._joined.discard(user_id)
        try:
            await get_channel_layer().group_discard(wakeups.group_of(user_id), self._channel)
        except Exception as error:
            logger.info("left a group without telling Redis: %s", error.__class__.__name__)

    async def _listen(self) -> None:
        """Reads messages from Redis, forever."""
        layer = get_channel_layer()
        while True:
            try:
                if self._channel is None:
                    self._channel = await layer.new_channel("hub.")
                    self._has_channel.set()
                while True:
                    try:
                        message = await layer.receive(self._channel)
                    except ValueError:  # it cannot be unpacked
                        message = None
                    if wakeups.is_message(message):
                        self.deliver(message)
            except Exception as error:
                logger.warning("not listening to Redis: %s", error.__class__.__name__)
                await asyncio.sleep(RETRY_SECONDS)

    # --- Periodic work -------------------------------------------------------------------------

    @staticmethod
    async def _repeat(work: Callable[[], Awaitable[object]], seconds: float, name: str) -> None:
        """Repeats the work with pauses of about so many seconds, so that processes do not all work at the same time."""
        while True:
            await asyncio.sleep(seconds * random.uniform(0.8, 1.0))
            try:
                await work()
            except Exception as error:
                logger.warning("%s failed: %s", name, error.__class__.__name__)

    async def sweep(self) -> None:
        """Closes sockets that may not stay open, wakes those whose log has grown without a wake-up, and announces users
        of killed processes as offline."""
        sweeps, self._sweeps = self._sweeps, 0
        open_sockets = [
            (socket, socket.identity)
            for sockets in self.sockets.values()
            for socket in sockets
            if socket.identity is not None and not socket.is_closing
        ]
        for start in range(0, len(open_sockets), SWEEP_CHUNK):
            chunk = open_sockets[start : start + SWEEP_CHUNK]
            ended, unlisted, heads = await in_database(_read_positions, [identity for _, identity in chunk])
            for socket, identity in chunk:
                user_id = identity.user_id
                # The result is not about a token that was renewed meanwhile.
                if identity.token in ended and socket.identity == identity:
                    socket.close_soon(Close.UNAUTHORISED, ended[identity.token])
                elif (code := unlisted.get(identity.socket_id)) is not None:
                    socket.close_soon(code)
                else:
                    socket.on_message(wakeups.NewEvents(type="new_events", user_id=user_id, seq=heads.get(user_id, 0)))
        if not open_sockets:
            return
        # After an outage of the database the other processes touch their sockets first.
        if sweeps >= SWEEPS_BEFORE_PURGE:
            while await in_database(presence.forget_killed, now=timezone.now()):
                pass
        self._sweeps = sweeps + 1

    async def _tick(self) -> None:
        now = asyncio.get_running_loop().time()
        for check_stuck in tuple(self.sending):
            check_stuck(now)

    # --- Its own life --------------------------------------------------------------------------

    def start(self) -> None:
        """Called with the first request of a process, so that calls end in time without any open socket."""
        if self._tasks:
            return
        wakeups.register(self.deliver)
        endless = [
            self._repeat(self.sweep, socket_service.sweep_seconds(), "sweep"),
            # A call whose deadline has passed also ends when it is read.
            self._repeat(partial(in_database, calls.end_overdue), conf.CALL_SWEEP_SECONDS, "ending overdue calls"),
            self._repeat(self._tick, TICK_SECONDS, "tick"),
        ]
        if project.REDIS_URL:
            endless.append(self._listen())
        self._tasks = [asyncio.ensure_future(coroutine) for coroutine in endless]


_background: set[asyncio.Task[Any]] = set()


def run_in_background(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Starts a task without awaiting it and keeps a reference (the event loop keeps only a weak one)."""
    task = asyncio.ensure_future(work)
    _background.add(task)
    task.add_done_callback(_background.discard)
    return task


def _read_positions(identities: list[Identity]) -> tuple[dict[tuple[int, int], str], dict[str, Close], dict[int, int]]:
    """The ended tokens with their error codes, the sockets without a row, and the last event of each user's log."""
    unlisted = socket_service.still_open(owners={identity.socket_id: identity.user_id for identity in identities})
    heads = selectors.heads({identity.user_id for identity in identities})
    return sessions.ended(identity.token for identity in identities), unlisted, heads
