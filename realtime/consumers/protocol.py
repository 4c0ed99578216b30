"""What the parts of a socket share: the close codes, and the connection as the other parts see it."""

from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Any, Protocol
from uuid import UUID

from realtime.kinds import SocketRef

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]


class Close(IntEnum):
    """The close codes of the socket; clients act on them."""

    BAD_FRAME = 4400
    UNAUTHORISED = 4401
    FORBIDDEN = 4403
    SLOW = 4408
    TOO_MANY = 4409
    FLOODING = 4429
    RESTART = 4503
    TOO_BIG = 1009


class OpenSocket(Protocol):
    """The connection, for its hub, its outbox and its command processor."""

    id: str
    user_id: int
    session_id: int
    sid: UUID
    generation: int
    language: str
    send: Send

    @property
    def device(self) -> SocketRef: ...

    @property
    def token(self) -> tuple[int, int]: ...

    @property
    def is_ready(self) -> bool: ...

    @property
    def is_closing(self) -> bool: ...

    def on_message(self, message: Message) -> None: ...

    def replay_buffered(self) -> None: ...

    def poll_position(self) -> None: ...

    def check_stuck(self, now: float) -> None: ...

    def signed_in(
        self, *, session_id: int, generation: int, sid: UUID, language: str, token_expires_at: int
    ) -> None: ...

    def end(self, code: str) -> None: ...

    def close(self, code: int, reason: str) -> None: ...
