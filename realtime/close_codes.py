"""The codes with which the server closes a socket."""

from enum import IntEnum
from typing import Self


class Close(IntEnum):
    """Clients act on these codes. daphne can send 1000 and the codes from 3000 on."""

    # The usual reason; the frame may name another.
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
