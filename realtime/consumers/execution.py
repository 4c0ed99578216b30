"""The database side of a socket: executes a command, renders its reply and the events of the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from accounts.exceptions import AccountBlocked, EmailNotVerified, TokenRevoked
from accounts.services import sessions
from core import ratelimits
from core.fields import MAX_ID, checked
from realtime import selectors, socket_commands, socket_events
from realtime.calls import services as calls
from realtime.consumers import protocol
from realtime.consumers.protocol import Caller, CommandFrame, Ref
from realtime.kinds import CommandContext, SocketRef
from realtime.selectors import LoggedEvent
from realtime.services import presence, sockets
from realtime.services.presence import TypingNotice
from realtime.socket_events import UserEvents


def execute(caller: Caller, language: str, frame: CommandFrame) -> tuple[str, str | None]:
    """Executes a command. Returns the reply, and the code that closes the socket, if any."""
    with translation.override(language):
        try:
            command = socket_commands.COMMANDS.get(frame.type)
            if command is None:
                raise ValidationError({"type": [_("There is no such command.")]})
            user, _session = sessions.recheck(sid=caller.sid, user_id=caller.user_id, generation=caller.generation)
            if command.for_verified and not user.has_verified_email:
                raise EmailNotVerified
            if command.rate is not None:
                ratelimits.check(command.rate, user.id)
            data = checked(command.input, frame.data)
            result = command.run(CommandContext(user, caller.device), data)
            return protocol.write({"type": "reply", "ref": frame.ref, "ok": True, "data": result}), None
        except Exception as error:
            text, code = error_reply(frame.ref, error, language)
            return text, code if isinstance(error, TokenRevoked | AccountBlocked) else None


def error_reply(ref: Ref, error: Exception, language: str) -> tuple[str, str]:
    """The same code and message as over REST, from the project's exception handler."""
    with translation.override(language):
        handler = cast(Callable[..., Any], api_settings.EXCEPTION_HANDLER)
        body = handler(error, {}).data
        fields = {key: value for key, value in body.items() if key != "request_id"}
        return protocol.write({"type": "reply", "ref": ref, **fields}), str(body["error"])


class OutgoingEvent(NamedTuple):
    """An event ready to be sent."""

    seq: int
    text: str
    size: int
    moves_badge: bool
    # (conversation, message) if the event carries a message of the other participant.
    brings: tuple[int, int] | None


def read_events(user_id: int, seq: int, limit: int, device: SocketRef) -> list[OutgoingEvent]:
    [outgoing] = render_batch([UserEvents(user_id, selectors.events_after(user_id, seq, limit), device)])
    return outgoing


def render_batch(batch: Sequence[UserEvents]) -> list[list[OutgoingEvent]]:
    """The events of several sockets, ready to be sent."""
    rendered = socket_events.render(batch)
    return [
        [_outgoing(event, frame, part.user_id) for event, frame in zip(part.events, frames, strict=True)]
        for part, frames in zip(batch, rendered, strict=True)
    ]


def _outgoing(event: LoggedEvent, frame: dict[str, Any], user_id: int) -> OutgoingEvent:
    text = protocol.write(frame)
    moves_badge = socket_events.EVENTS[frame["type"]].moves_badge
    return OutgoingEvent(event.seq, text, len(text.encode()), moves_badge, _brought_by(frame, user_id))


def unpack_event(packed: Sequence[Any]) -> LoggedEvent:
    """An event that came with a wake-up (services/log.py packs it)."""
    seq, kind, conversation_id, object_id, extra, at = packed
    return LoggedEvent(
        seq, kind, conversation_id, object_id, json.loads(extra) if extra else None, datetime.fromisoformat(at)
    )


class ClosedSocket(NamedTuple):
    user_id: int
    socket_id: str


def record_closed(batch: Sequence[ClosedSocket]) -> list[None]:
    """Sockets closed: deletes their rows, then notes the loss for their calls and for those who watch their users."""
    socket_ids = [closed.socket_id for closed in batch]
    sockets.closed(socket_ids=socket_ids)
    calls.note_closed(socket_ids=socket_ids)
    presence.users_disconnected(user_ids={closed.user_id for closed in batch})
    return [None] * len(batch)


def _brought_by(frame: dict[str, Any], user_id: int) -> tuple[int, int] | None:
    if frame["type"] != "message.new" or frame["data"]["message"]["sender_id"] == user_id:
        return None
    return frame["data"]["conversation_id"], frame["data"]["message"]["id"]


def parse_typing(command: CommandFrame, *, session_id: int, user_id: int) -> TypingNotice | None:
    """The notice of a plain typing command; None if its data needs the full validation."""
    conversation_id, is_typing = command.data.get("conversation_id"), command.data.get("is_typing")
    if type(conversation_id) is int and 0 < conversation_id <= MAX_ID and type(is_typing) is bool:
        return TypingNotice(session_id, user_id, conversation_id, is_typing)
    return None
