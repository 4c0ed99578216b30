"""The frames of clients and server, and the types that the parts of a socket share: its identity, and the consumer as
they see it.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from rest_framework.utils.encoders import JSONEncoder

from core.api.parsers import parse_json
from core.text import is_encodable
from core.times import json_time
from realtime import wakeups
from realtime.close_codes import Close
from realtime.devices import Device

MAX_REF = 64
MAX_TYPE = 64


class BadFrame(Exception):
    """A frame that is not a valid command. `ref` is its reference, if that could be read."""

    def __init__(self, message: Any, ref: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.ref = ref


Ref = str | int | None


class CommandFrame(NamedTuple):
    type: str
    ref: Ref
    data: dict[str, Any]


def read(text: str) -> CommandFrame:
    """The command in a text frame, or BadFrame."""
    try:
        frame = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame(_("The frame is not JSON.")) from error
    if not isinstance(frame, dict):
        raise BadFrame(_("A frame must be a JSON object."))
    ref = frame.get("ref")
    if not _is_ref(ref):
        raise BadFrame(_("`ref` must be a short text or a number."))
    kind = frame.get("type")
    if not isinstance(kind, str) or not 0 < len(kind) <= MAX_TYPE:
        raise BadFrame(_("`type` is missing."), ref)
    data = frame.get("data")
    if data is not None and not isinstance(data, dict):
        raise BadFrame(_("`data` must be a JSON object."), ref)
    return CommandFrame(kind, ref, data or {})


class _Encoder(JSONEncoder):
    def default(self, obj: Any) -> Any:
        return json_time(obj) if isinstance(obj, datetime) else super().default(obj)


def write(frame: dict[str, Any]) -> str:
    """A frame as JSON, with times and lazy texts in the format of REST replies."""
    return json.dumps(frame, cls=_Encoder, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def reply(ref: Ref, data: dict[str, Any]) -> str:
    """The reply to a command that succeeded."""
    return write({"type": "reply", "ref": ref, "ok": True, "data": data})


def _is_ref(ref: Any) -> bool:
    if isinstance(ref, str):
        return len(ref) <= MAX_REF and is_encodable(ref)
    return ref is None or (isinstance(ref, int) and not isinstance(ref, bool) and abs(ref) < 2**63)


Message = dict[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Identity(NamedTuple):
    """The user, the session and the token of a socket."""

    user_id: int
    session_id: int
    sid: UUID
    # The id of the token that opened or last renewed the socket.
    generation: int
    socket_id: str

    @property
    def token(self) -> tuple[int, int]:
        return self.session_id, self.generation

    @property
    def device(self) -> Device:
        return Device(self.user_id, self.session_id, self.socket_id)


class OpenSocket(Protocol):
    """The consumer as the parts of its socket see it."""

    id: str
    # None until the socket is signed in.
    identity: Identity | None
    language: str
    is_closing: bool

    def on_message(self, message: wakeups.Message) -> None: ...

    def close_soon(self, code: Close, reason: str | None = None) -> None: ...

    async def send(self, text_data: str) -> None: ...
