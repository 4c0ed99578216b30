"""The database side of a socket: authenticates a token, executes a command, renders its reply and the events of the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from accounts.exceptions import AccountBlocked, EmailNotVerified, TokenRevoked
from accounts.services import sessions
from core import ratelimits
from realtime import selectors, socket_commands, socket_events
from realtime.calls import services as calls
from realtime.calls.selectors import live_calls_for
from realtime.conf import conf
from realtime.consumers import protocol
from realtime.kinds import CommandContext, SocketRef
from realtime.selectors import LoggedEvent
from realtime.services import log, presence, sockets

Ref = str | int | None


class SignedIn(NamedTuple):
    user_id: int
    session_id: int
    sid: UUID
    language: str
    position: log.Position | None
    ready: dict[str, Any]


def checked(serializer: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    instance = serializer(data=data)
    instance.is_valid(raise_exception=True)
    return instance.validated_data


def authenticate(token: str, socket_id: str, is_first: bool) -> SignedIn:
    user, session = sessions.authenticate(token)
    if not is_first:
        sockets.renewed(socket_id=socket_id, session_id=session.id)
        return SignedIn(user.id, session.id, session.sid, user.language, None, {})
    device = SocketRef(session.id, socket_id)
    opened = sockets.opened(socket_id=socket_id, user_id=user.id, session_id=session.id)
    if opened.in_call:
        calls.note_open(user_id=user.id, device=device)
    if opened.is_first:
        presence.user_connected(person=user)
    ready = _ready(user.id, opened.position, device, in_call=opened.in_call)
    return SignedIn(user.id, session.id, session.sid, user.language, opened.position, ready)


def _ready(user_id: int, position: log.Position, device: SocketRef, *, in_call: bool) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "epoch": position.epoch,
        "seq": position.head_seq,
        "min_seq": position.min_seq,
        "ping_s": conf.PING_SECONDS,
        "window": conf.WINDOW_EVENTS,
        "calls": live_calls_for(user_id, device) if in_call else [],
    }


def execute(
    caller: tuple[UUID, int, int], device: SocketRef, language: str, item: protocol.CommandFrame
) -> tuple[bool, str, str | None]:
    """Executes a command. Returns whether it worked, the reply, and the code that closes the socket, if any."""
    with translation.override(language):
        try:
            command = socket_commands.COMMANDS.get(item.type)
            if command is None:
                raise ValidationError({"type": [_("There is no such command.")]})
            sid, user_id, generation = caller
            user, _session = sessions.recheck(sid=sid, user_id=user_id, generation=generation)
            if command.for_verified and not user.has_verified_email:
                raise EmailNotVerified
            if command.rate is not None:
                ratelimits.check(command.rate, user.id)
            data = checked(command.input, item.data)
            result = command.run(CommandContext(user, device), data)
            return True, protocol.write({"type": "reply", "ref": item.ref, "ok": True, "data": result}), None
        except Exception as error:
            text, code = error_reply(item.ref, error, language)
            fatal = code if isinstance(error, TokenRevoked | AccountBlocked) else None
            return False, text, fatal


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
    return render_events(user_id, selectors.events_after(user_id, seq, limit), device)


def render_events(user_id: int, events: Sequence[LoggedEvent], device: SocketRef) -> list[OutgoingEvent]:
    outgoing = []
    for event, frame in zip(events, socket_events.render(user_id, events, device), strict=True):
        text = protocol.write(frame)
        outgoing.append(
            OutgoingEvent(
                event.seq,
                text,
                len(text.encode()),
                socket_events.EVENTS[frame["type"]].moves_badge,
                _brought_by(frame, user_id),
            )
        )
    return outgoing


def unpack_event(packed: Sequence[Any]) -> LoggedEvent:
    """An event that came with a wake-up (services/log.py packs it)."""
    seq, kind, conversation_id, object_id, extra, at = packed
    return LoggedEvent(
        seq, kind, conversation_id, object_id, json.loads(extra) if extra else None, datetime.fromisoformat(at)
    )


def _brought_by(frame: dict[str, Any], user_id: int) -> tuple[int, int] | None:
    if frame["type"] != "message.new" or frame["data"]["message"]["sender_id"] == user_id:
        return None
    return frame["data"]["conversation_id"], frame["data"]["message"]["id"]
