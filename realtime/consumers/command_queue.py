"""Executes the commands of one socket, one after the other.

The consumer puts frames into a short queue and never waits. A client that sends faster than commands can be executed is
flooding. A command that fails is answered with an error and never closes the socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError, ValidationError

from accounts.exceptions import AccountBlocked, EmailNotVerified, TokenInvalid, TokenRevoked
from accounts.sign_in import sessions
from core.api import ratelimits
from core.api.exceptions import RateLimited
from core.api.serializers import checked
from core.conf import project
from core.ids import MAX_ID
from realtime.close_codes import Close
from realtime.command_spec import CommandContext
from realtime.conf import conf
from realtime.consumers.authentication import Authentication
from realtime.consumers.database import in_database
from realtime.consumers.hub import Hub
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import BadFrame, CommandFrame, Identity, OpenSocket, Ref, read, reply
from realtime.services.presence import TypingNotice, relay_typing_batch
from realtime.socket_commands import COMMANDS, AckInput, AuthInput, PositionInput

BAD_FRAMES_BEFORE_SIGN_IN = 3
WAIT_FOR_ROOM_SECONDS = 0.05
# A call begins with a burst of candidates, whose number is limited per call.
SIGNAL_COST = 0.25


class TooFast(NamedTuple):
    """A command above the rate limit."""

    ref: Ref


@dataclass(slots=True, eq=False)
class CommandQueue:
    _socket: OpenSocket
    _outbox: Outbox
    _authentication: Authentication
    _frames: list[CommandFrame | BadFrame | TooFast] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None
    # Consecutive bad frames.
    _bad_frames: int = 0
    _refused: int = 0
    _tokens: float = field(default_factory=lambda: conf.COMMANDS_BURST)
    _refilled_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    # --- Queueing ------------------------------------------------------------------------------

    def take(self, text: str) -> None:
        """A text frame of the client."""
        frame: CommandFrame | BadFrame | TooFast
        try:
            frame = read(text)
            self._bad_frames = 0
        except BadFrame as error:
            frame = error
            self._bad_frames += 1
            if self._bad_frames > (BAD_FRAMES_BEFORE_SIGN_IN if self._socket.identity is None else conf.BAD_FRAMES):
                self._socket.close_soon(Close.BAD_FRAME)
                return
        cost = SIGNAL_COST if isinstance(frame, CommandFrame) and frame.type == "call.signal" else 1
        if project.RATELIMIT_ENABLE and not self._may_command(cost):
            self._refused += 1
            if self._refused > conf.COMMANDS_BURST:
                self._socket.close_soon(Close.FLOODING)
                return
            frame = TooFast(frame.ref)
        if isinstance(frame, CommandFrame) and frame.type == "ack" and self._socket.identity is not None:
            # Handled at once, because the queue may be waiting for the full window.
            self._acknowledge(frame)
        elif len(self._frames) >= conf.INBOX_FRAMES:
            self._socket.close_soon(Close.FLOODING)
        else:
            self._frames.append(frame)
            if self._task is None or self._task.done():
                self._task = asyncio.ensure_future(self._run())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _may_command(self, cost: float) -> bool:
        """Takes one of the tokens that come in at 20 a second, up to 60."""
        now = asyncio.get_running_loop().time()
        earned = (now - self._refilled_at) * conf.COMMANDS_PER_SECOND
        self._refilled_at = now
        self._tokens = min(conf.COMMANDS_BURST, self._tokens + earned)
        if self._tokens < cost:
            return False
        self._tokens -= cost
        self._refused = 0
        return True

    # --- Executing -----------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._frames and not self._socket.is_closing:
            while self._outbox.is_full():  # noqa: ASYNC110 (only for clients that do not read)
                await asyncio.sleep(WAIT_FOR_ROOM_SECONDS)
            frame = self._frames.pop(0)
            try:
                # The message of an error is translated when the error is created.
                with translation.override(self._socket.language):
                    await self._handle(frame)
            except Exception as error:
                self._outbox.send_error(frame.ref, error)
                if isinstance(error, TokenInvalid | TokenRevoked | AccountBlocked):
                    self._socket.close_soon(Close.UNAUTHORISED, str(error.default_code))

    async def _handle(self, frame: CommandFrame | BadFrame | TooFast) -> None:
        if isinstance(frame, TooFast):
            raise RateLimited(retry_after=1)
        if isinstance(frame, BadFrame):
            raise ParseError(frame.message)
        if frame.type == "auth":
            await self._authenticate(frame)
        elif (identity := self._socket.identity) is None:
            raise TokenInvalid
        elif frame.type == "ping":
            seq = await self._outbox.log.poll_position()
            self._outbox.send_frame({"type": "pong", "data": {"seq": seq}})
        elif frame.type == "resume":
            data = checked(PositionInput, frame.data)
            self._outbox.log.resume(data["epoch"], data["seq"])
        elif frame.type == "ack":
            self._acknowledge(frame)
        elif frame.type != "typing" or not await self._relay_typing(frame, identity):
            self._outbox.send_text(await in_database(execute, identity, self._socket.language, frame))

    async def _authenticate(self, frame: CommandFrame) -> None:
        try:
            data = checked(AuthInput, frame.data)
        except ValidationError as error:
            if self._socket.identity is not None or "token" not in error.detail:
                raise
            # Without a token, or with one that is not text, there is nothing to wait for.
            raise TokenInvalid from error
        is_signed_in = await self._authentication.sign_in(data["token"], frame.ref)
        if is_signed_in and (resume := data.get("resume")) is not None:
            self._outbox.log.resume(resume["epoch"], resume["seq"])

    async def _relay_typing(self, frame: CommandFrame, identity: Identity) -> bool:
        """Whether a plain and permitted notice was relayed. Any other is executed as a command, which raises its
        error."""
        conversation_id, is_typing = frame.data.get("conversation_id"), frame.data.get("is_typing")
        if type(conversation_id) is not int or not 0 < conversation_id <= MAX_ID or type(is_typing) is not bool:
            return False
        notice = TypingNotice(identity.session_id, identity.user_id, conversation_id, is_typing)
        if not await Hub.here().batched(relay_typing_batch, notice):
            return False
        self._outbox.send_reply(frame.ref, {})
        return True

    def _acknowledge(self, frame: CommandFrame) -> None:
        try:
            with translation.override(self._socket.language):
                seq = checked(AckInput, frame.data)["seq"]
            self._outbox.log.acknowledge(seq)
            if frame.ref is not None:
                self._outbox.send_reply(frame.ref, {})
        except ValidationError as error:
            self._outbox.send_error(frame.ref, error)


def execute(identity: Identity, language: str, frame: CommandFrame) -> str:
    """Executes a command and returns the text of its reply. Runs in a thread of `in_database`.

    Raises the errors of the command; TokenRevoked and AccountBlocked when the socket's session has ended.
    """
    with translation.override(language):
        command = COMMANDS.get(frame.type)
        if command is None:
            raise ValidationError({"type": [_("There is no such command.")]})
        user, _session = sessions.recheck(sid=identity.sid, user_id=identity.user_id, generation=identity.generation)
        if command.for_verified and not user.has_verified_email:
            raise EmailNotVerified
        if command.rate is not None:
            ratelimits.check(command.rate, user.id)
        data = checked(command.input, frame.data)
        result = command.run(CommandContext(user, identity.device), data)
        return reply(frame.ref, result)
