"""Small types that all layers of this app share."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, Self

from rest_framework.serializers import Serializer


class SocketRef(NamedTuple):
    """The origin of a command: a session and, over the real-time channel, its socket."""

    session_id: int
    # Empty for a REST request.
    socket_id: str = ""


class CommandContext(NamedTuple):
    """The user as they are now (read with the session for every command), and the device."""

    user: Any
    device: SocketRef


class CommandSpec(NamedTuple):
    summary: str
    input: type[Serializer[Any]]
    run: Callable[[CommandContext, dict[str, Any]], dict[str, Any]]
    # The reply over REST, or the shape of the reply's data.
    reply: type[Serializer[Any]]
    # Commands that reach another user need a verified e-mail address.
    for_verified: bool = True
    # The scope of core.ratelimits that the same action has over REST; every command counts against the socket.
    rate: str | None = None


class Close(IntEnum):
    """The codes with which the server closes a socket; clients act on them. daphne sends none below 3000, other than 1000."""

    # The usual one; the frame may name another.
    reason: str
    meaning: str
    remedy: str

    # fmt: off
    BAD_FRAME = 4400, "bad_frame", "A frame was not a JSON object, or larger than 64 KiB.", "Fix the client. Connect again."
    UNAUTHORISED = 4401, "token_revoked", "The token is missing, expired or revoked.", "Sign in again. Do not repeat with this token."
    FORBIDDEN = 4403, "forbidden", "The origin of the page is not allowed.", "Do not connect again."
    SLOW = 4408, "slow", "No sign-in within 5 seconds, or the client reads too slowly.", "Connect again and resume."
    TOO_MANY = 4409, "too_many_sockets", "The user has more than 10 sockets; the oldest one was closed.", "Do not connect again by yourself."
    FLOODING = 4429, "flooding", "The client sent commands faster than they could be processed.", "Wait for replies. Connect again with jitter."
    RESTART = 4503, "restart", "The server restarts.", "Connect again with jitter and resume."
    # fmt: on

    def __new__(cls, code: int, reason: str, meaning: str, remedy: str) -> Self:
        close = int.__new__(cls, code)
        close._value_ = code
        close.reason, close.meaning, close.remedy = reason, meaning, remedy
        return close
