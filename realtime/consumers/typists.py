"""The most frequent command: that somebody types. All sockets of a process share one look at the database.

What comes in while a look is under way is answered by the next one. Every frame is checked after it came,
so a block stops the very next one; nothing is remembered from one frame to another.
"""

import asyncio

from accounts.fields import MAX_ID
from realtime.consumers.database import in_database
from realtime.consumers.frames import Command
from realtime.services.typing import Note, typing_of_many

AT_ONCE = 100


class Typists:
    def __init__(self) -> None:
        self._waiting: list[tuple[Note, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None

    async def passed_on(self, note: Note) -> bool:
        """Whether the other one has been told; if not, the ordinary way finds out why not."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((note, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            try:
                passed = await in_database(typing_of_many, [note for note, _ in batch])
            except Exception:
                # Each for itself, so that each gets the error that it would have got alone.
                passed = [False] * len(batch)
            for (_, answer), is_passed in zip(batch, passed, strict=True):
                if not answer.done():
                    answer.set_result(is_passed)


def note_of(command: Command, *, session_id: int, user_id: int) -> Note | None:
    """What a plain typing command says; None when its data needs the thorough check."""
    conversation_id, is_typing = command.data.get("conversation_id"), command.data.get("is_typing")
    if type(conversation_id) is int and 0 < conversation_id <= MAX_ID and type(is_typing) is bool:
        return Note(session_id, user_id, conversation_id, is_typing)
    return None
