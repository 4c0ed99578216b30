"""Runs the database work of sockets on a few threads of their own.

Channels would run all of it on its single "sensitive" thread, so that sockets would wait for each other.
Each thread keeps its connection, and tests it before every use; on PostgreSQL that takes no query.
"""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Generic, ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from core.database.connections import discard_connection, is_read_only, leave_pool
from realtime.conf import conf

P = ParamSpec("P")
T = TypeVar("T")
Question = TypeVar("Question")
Answer = TypeVar("Answer")

BATCH = 100


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a synchronous function on one of the sockets' threads, with the caller's context variables."""
    context = contextvars.copy_context()
    call = partial(context.run, _call, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_executor(), call)


class Batcher(Generic[Question, Answer]):
    """Answers the questions of all sockets of a process with few queries. The questions that arrive during a batch, and
    in the `pause` seconds after it, form the next batch.
    """

    def __init__(self, answer: Callable[[Sequence[Question]], list[Answer]], pause: float = 0) -> None:
        self._answer = answer
        self._pause = pause
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, question: Question) -> Answer:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        return await future

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
            await self._work(batch)
            if self._pause:
                await asyncio.sleep(self._pause)

    async def _work(self, batch: Sequence[tuple[Question, asyncio.Future[Answer]]]) -> None:
        # The future of a socket that has closed is done already.
        try:
            answers = await in_database(self._answer, [question for question, _ in batch])
        except Exception as error:
            if len(batch) > 1:
                # Repeat them one by one, so that each gets its own error.
                for question in batch:
                    await self._work([question])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(conf.DATABASE_THREADS, thread_name_prefix="sockets", initializer=leave_pool)


def _call(function: Callable[[], Any]) -> Any:
    if connection.connection is not None and not connection.is_usable():
        connection.close()
    try:
        return function()
    except (OperationalError, InterfaceError):
        connection.close()
        raise
    except DatabaseError as error:
        if is_read_only(error):
            discard_connection()
        raise
