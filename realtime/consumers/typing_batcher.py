"""Typing, the most frequent command. All sockets of a process share one permission query.

Notices that arrive during a query are answered by the next one. Every notice is checked after its arrival,
so a block applies to the next notice; no result is cached.
"""

import asyncio

from core.fields import MAX_ID
from realtime.consumers.database import in_database
from realtime.consumers.protocol import CommandFrame
from realtime.services.typing import TypingNotice, relay_typing_batch

AT_ONCE = 100


class TypingBatcher:
    def __init__(self) -> None:
        self._waiting: list[tuple[TypingNotice, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None

    async def relay(self, note: TypingNotice) -> bool:
        """Whether the notice was relayed. If not, the `typing` service finds and raises the error."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((note, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            try:
                passed = await in_database(relay_typing_batch, [note for note, _ in batch])
            except Exception:
                # One by one, so that each gets its own error.
                passed = [False] * len(batch)
            for (_, answer), is_passed in zip(batch, passed, strict=True):
                if not answer.done():
                    answer.set_result(is_passed)


def parse_typing(command: CommandFrame, *, session_id: int, user_id: int) -> TypingNotice | None:
    """The notice of a plain typing command; None if its data needs the full validation."""
    conversation_id, is_typing = command.data.get("conversation_id"), command.data.get("is_typing")
    if type(conversation_id) is int and 0 < conversation_id <= MAX_ID and type(is_typing) is bool:
        return TypingNotice(session_id, user_id, conversation_id, is_typing)
    return None
