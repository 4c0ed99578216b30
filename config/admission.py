"""The line for the threads that answer HTTP: who stands in it too long is told to come back.

Views are synchronous and each holds a thread. When all threads hang (a lock in the database, a pool
without connections), the requests behind them would otherwise wait without end and without a word.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

from accounts import request_context
from config import errors

Application = Callable[..., Awaitable[None]]

WAIT_SECONDS = 3.0
# Whose turn is near waits a little longer.
GRACE_SECONDS = 1.0


class Line:
    """So many places on one event loop; the others wait in the order in which they came."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._left = 0

    async def enter(self) -> bool:
        """True with a place, to be given back by `leave`. False when the line does not move.

        Whoever has waited WAIT_SECONDS goes, unless at the pace of this time their turn comes within
        GRACE_SECONDS. So nobody is refused later than after both.
        """
        if self._free:
            self._free -= 1
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        left_before = self._left
        try:
            if await _comes(turn, WAIT_SECONDS):
                return True
            soon = (self._left - left_before) * GRACE_SECONDS / WAIT_SECONDS
            if self._waiting.index(turn) < soon and await _comes(turn, GRACE_SECONDS):
                return True
            self._waiting.remove(turn)
            return False
        except asyncio.CancelledError:
            if turn.done():
                self.leave()
            else:
                self._waiting.remove(turn)
            raise

    def leave(self) -> None:
        self._left += 1
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1


async def _comes(turn: asyncio.Future[None], seconds: float) -> bool:
    done, _pending = await asyncio.wait([turn], timeout=seconds)
    return bool(done)


class Admission:
    """Lets as many requests into `app` as it has threads."""

    def __init__(self, app: Application, *, places: int) -> None:
        self._app = app
        self._places = places
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, Line] = WeakKeyDictionary()

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        line = self._lines.setdefault(asyncio.get_running_loop(), Line(self._places))
        if not await line.enter():
            await _refuse(scope, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            line.leave()


async def _refuse(scope: dict[str, Any], send: Callable[..., Any]) -> None:
    """503 in the envelope, made without a thread."""
    offered = dict(scope["headers"]).get(b"x-request-id", b"")
    request_id = request_context.id_for(offered.decode("latin-1"))
    entered = request_context.enter(request_id=request_id)
    try:
        response = errors.busy()
    finally:
        request_context.leave(entered)
    response["X-Request-Id"] = request_id
    response["Content-Length"] = str(len(response.content))
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
