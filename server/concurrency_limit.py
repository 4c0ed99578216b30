"""Limits concurrent HTTP requests to the number of threads; a request that waits too long gets 503.

Views are synchronous and each holds a thread. When all threads hang (a lock in the database, a pool
without connections), the requests behind them would otherwise wait without a limit and without a reply.

Requests that hash a password have a lower limit of their own, so that a flood of sign-ins delays and refuses sign-ins
only.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from django.urls import URLResolver, get_resolver
from prometheus_client import Gauge

from core.api import errors
from server.request_bodies import Application, Receive, Send, reply_without_thread, start_of

WAIT_SECONDS = 3.0
# A request whose turn is near waits a little longer.
GRACE_SECONDS = 1.0
WAITING = Gauge("parley_requests_waiting", "Requests that wait for a thread.")


HASHING_WAIT_SECONDS = 2.0


def hashing_slots(threads: int) -> int:
    """The number of these threads that may hash passwords at once, including those that wait for a core."""
    return max(1, threads // 4)


@cache
def hashing_paths() -> frozenset[tuple[str, str]]:
    """(method, path) of the views that declare that they hash a password (accounts.hashers). Paths with a parameter are
    left out, because they all require a token first."""
    return frozenset(_hashing_paths("/", get_resolver().url_patterns))


def _hashing_paths(before: str, patterns: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _hashing_paths(path, pattern.url_patterns)
            continue
        view = pattern.callback
        handlers = [getattr(view.cls, name) for name in view.actions.values()] if hasattr(view, "actions") else [view]
        if any(getattr(handler, "hashes_password", False) for handler in handlers):
            yield "POST", path


def hashes_password(scope: dict[str, Any]) -> bool:
    return scope["method"] == "POST" and ("POST", scope["path"]) in hashing_paths()


# A waiting request is refused in the end: docs/decisions/serving.md#0053
class ConcurrencyLimit:
    """ASGI middleware: passes at most `slots` requests to `app` at once, for example as many as it has threads. Others
    wait in order of arrival. Requests that are not `counted` pass."""

    def __init__(
        self,
        app: Application,
        *,
        slots: int,
        wait_seconds: float | None = None,
        counted: Callable[[dict[str, Any]], bool] = lambda scope: True,
    ) -> None:
        self._app = app
        self._wait_seconds = wait_seconds
        self._counted = counted
        self._free = slots
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._released = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if not self._counted(scope):
            await self._app(scope, receive, send)
            return
        if not await self._enter():
            response = reply_without_thread(scope, errors.busy)
            await send(start_of(response))
            await send({"type": "http.response.body", "body": response.content})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._leave()

    async def _enter(self) -> bool:
        """Waits for a slot. True when it has one, which `_leave` releases; False when the queue does not move.

        A request that has waited `wait_seconds` gives up, unless at the current rate its turn comes within
        GRACE_SECONDS. It is refused after the sum of both at the latest.
        """
        if self._free:
            self._free -= 1
            return True
        wait_seconds = WAIT_SECONDS if self._wait_seconds is None else self._wait_seconds
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        released_before = self._released
        try:
            with WAITING.track_inprogress():
                if await _wait_for_slot(slot, wait_seconds):
                    return True
                reachable = (self._released - released_before) * GRACE_SECONDS / wait_seconds
                if self._waiting.index(slot) < reachable and await _wait_for_slot(slot, GRACE_SECONDS):
                    return True
            self._waiting.remove(slot)
            return False
        except asyncio.CancelledError:
            if slot.done():
                self._leave()
            else:
                self._waiting.remove(slot)
            raise

    def _leave(self) -> None:
        self._released += 1
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1


async def _wait_for_slot(slot: asyncio.Future[None], seconds: float) -> bool:
    done, _pending = await asyncio.wait([slot], timeout=seconds)
    return bool(done)
