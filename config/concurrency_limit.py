"""Limits concurrent HTTP requests to the number of threads; a request that waits too long gets 503.

Views are synchronous and each holds a thread. When all threads hang (a lock in the database, a pool
without connections), the requests behind them would otherwise wait without a limit and without a reply.
"""

import asyncio
from collections import deque
from typing import Any

from prometheus_client import Gauge

from config.transfer import Application, Receive, Send, reply_without_thread, start_of
from core import errors

WAIT_SECONDS = 3.0
# A request whose turn is near waits a little longer.
GRACE_SECONDS = 1.0
WAITING = Gauge("parley_requests_waiting", "Requests that wait for a thread.")


class ConcurrencyLimit:
    """ASGI middleware: passes at most as many requests to `app` as it has threads; others wait in order of arrival."""

    def __init__(self, app: Application, *, slots: int) -> None:
        self._app = app
        self._free = slots
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._released = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
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
        """Waits for a slot. True when it has one, to be released by `_leave`; False when the queue does not move.

        A request that has waited WAIT_SECONDS gives up, unless at the current rate its turn comes within
        GRACE_SECONDS. So a refusal comes after the sum of both at the latest.
        """
        if self._free:
            self._free -= 1
            return True
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        released_before = self._released
        try:
            with WAITING.track_inprogress():
                if await _wait_for_slot(slot, WAIT_SECONDS):
                    return True
                reachable = (self._released - released_before) * GRACE_SECONDS / WAIT_SECONDS
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
