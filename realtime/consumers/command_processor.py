"""Executes the commands of one socket, one after the other.

The reader puts commands into a short queue and never waits; a client that sends faster than commands can
be executed is flooding. A command that fails is answered with an error and never closes the socket.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError, ValidationError

from accounts.exceptions import TokenInvalid
from accounts.services import sessions
from accounts.tokens import decode_session_token
from core.conf import project
from core.exceptions import ApiError, RateLimited
from realtime.conf import conf
from realtime.consumers import protocol
from realtime.consumers.database import in_database
from realtime.consumers.execution import Ref, authenticate, checked, error_reply, execute
from realtime.consumers.hub import Hub, keep_until_done
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import Close, OpenSocket
from realtime.consumers.typing_batcher import parse_typing
from realtime.serializers import AckInput, AuthInput, PositionInput
from realtime.services import log, sockets

logger = logging.getLogger("parley.realtime")

BAD_FRAMES_BEFORE_SIGN_IN = 3
WAIT_FOR_ROOM_SECONDS = 0.05
# A call begins with a burst of candidates; their number is limited per call.
SIGNAL_COST = 0.25
NOTE_ACKS_SECONDS = 0.25


class CommandProcessor:
    __slots__ = (
        "_bad_frames",
        "_connection",
        "_delivered",
        "_hub",
        "_inbox",
        "_is_noting",
        "_outbox",
        "_refilled_at",
        "_refused",
        "_task",
        "_tokens",
    )

    def __init__(self, connection: OpenSocket, outbox: Outbox, hub: Hub) -> None:
        self._connection = connection
        self._outbox = outbox
        self._hub = hub
        self._inbox: list[Any] = []
        self._task: asyncio.Task[None] | None = None
        self._bad_frames = 0
        self._tokens = float(conf.COMMANDS_BURST)
        self._refilled_at = asyncio.get_running_loop().time()
        # Consecutive ones.
        self._refused = 0
        self._delivered: dict[int, int] = {}
        self._is_noting = False

    # --- Queueing --------------------------------------------------------------------------------

    def take(self, text: str) -> None:
        """A text frame of the client."""
        item: protocol.CommandFrame | protocol.BadFrame | _Refused
        try:
            item = protocol.read(text)
        except protocol.BadFrame as error:
            item = error
            self._bad_frames += 1
            limit = conf.BAD_FRAMES if self._connection.is_ready else BAD_FRAMES_BEFORE_SIGN_IN
            if self._bad_frames > limit:
                self._connection.close(Close.BAD_FRAME, "bad_frame")
                return
        else:
            self._bad_frames = 0
        cost = SIGNAL_COST if isinstance(item, protocol.CommandFrame) and item.type == "call.signal" else 1
        if project.RATELIMIT_ENABLE and not self._may_command(cost):
            self._refused += 1
            if self._refused > conf.COMMANDS_BURST:
                self._connection.close(Close.FLOODING, "flooding")
                return
            item = _Refused(item.ref)
        if isinstance(item, protocol.CommandFrame) and item.type == "ack" and self._connection.is_ready:
            self._ack(item)
            return
        self._put(item)

    def authenticate_by_header(self, token: str) -> None:
        self._put(_HeaderToken(token))

    def poll_position(self) -> None:
        keep_until_done(self._poll_position())

    def recheck(self) -> None:
        keep_until_done(self._recheck())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _put(self, item: Any) -> None:
        if len(self._inbox) >= conf.INBOX_FRAMES:
            self._connection.close(Close.FLOODING, "flooding")
            return
        self._inbox.append(item)
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

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

    # --- Executing ---------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._inbox and not self._connection.is_closing:
            while self._outbox.is_full():  # noqa: ASYNC110 (only for clients that do not read)
                await asyncio.sleep(WAIT_FOR_ROOM_SECONDS)
            item = self._inbox.pop(0)
            try:
                # The message of an error is translated when the error is created.
                with translation.override(self._connection.language):
                    await self._handle(item)
            except Exception as error:
                self._refuse(getattr(item, "ref", None), error)

    async def _handle(self, item: Any) -> None:
        if isinstance(item, _HeaderToken):
            await self._sign_in(item.token, None, None, by_header=True)
        elif isinstance(item, _Refused):
            self._refuse(item.ref, RateLimited(retry_after=1))
        elif isinstance(item, protocol.BadFrame):
            self._refuse(item.ref, ParseError(item.message))
        elif item.type == "auth":
            try:
                data = checked(AuthInput, item.data)
            except ValidationError as error:
                if self._connection.is_ready or "token" not in error.detail:
                    raise
                # No token at all, or no text: there is nothing to wait for.
                self._refuse(item.ref, TokenInvalid())
                self._connection.close(Close.UNAUTHORISED, "token_invalid")
                return
            await self._sign_in(data["token"], item.ref, data.get("resume"))
        elif not self._connection.is_ready:
            self._refuse(item.ref, TokenInvalid())
            self._connection.close(Close.UNAUTHORISED, "token_invalid")
        elif item.type == "ping":
            await self._poll_position(pong=True)
        elif item.type == "resume":
            data = checked(PositionInput, item.data)
            self._outbox.resume(data["epoch"], data["seq"])
        elif item.type == "ack":
            self._ack(item)
        elif item.type != "typing" or not await self._typing(item):
            await self._execute(item)

    async def _typing(self, item: protocol.CommandFrame) -> bool:
        connection = self._connection
        note = parse_typing(item, session_id=connection.session_id, user_id=connection.user_id)
        if note is None or not await self._hub.typing_batcher.relay(note):
            return False
        self._outbox.send_frame({"type": "reply", "ref": item.ref, "ok": True, "data": {}})
        return True

    async def _execute(self, item: protocol.CommandFrame) -> None:
        connection = self._connection
        caller = (connection.sid, connection.user_id, connection.generation)
        ok, text, fatal = await in_database(execute, caller, connection.device, connection.language, item)
        self._outbox.send_text(text)
        if not ok and fatal is not None:
            connection.end(fatal)

    def _ack(self, item: protocol.CommandFrame) -> None:
        try:
            seq = checked(AckInput, item.data)["seq"]
        except ValidationError as error:
            self._refuse(item.ref, error)
            return
        for conversation_id, message_id in self._outbox.ack(seq).items():
            self._delivered[conversation_id] = max(message_id, self._delivered.get(conversation_id, 0))
        if not self._is_noting:
            self._is_noting = True
            keep_until_done(self._note_acks())

    async def _note_acks(self) -> None:
        """Stores acknowledgements; many of them become few writes."""
        connection, noted = self._connection, 0
        try:
            while self._outbox.acked > noted and connection.is_ready:
                noted = self._outbox.acked
                delivered, self._delivered = self._delivered, {}
                await in_database(
                    sockets.acknowledged,
                    socket_id=connection.id,
                    user_id=connection.user_id,
                    seq=noted,
                    delivered=delivered,
                )
                await asyncio.sleep(NOTE_ACKS_SECONDS)
        except Exception as error:
            logger.warning("receipts lost: %s", error.__class__.__name__)
        finally:
            self._is_noting = False

    async def _poll_position(self, *, pong: bool = False) -> None:
        """Reads the position of the log; a ping gets it as its reply."""
        connection = self._connection
        self._hub.rejoin(connection.user_id)
        position = await in_database(log.position, connection.user_id)
        self._outbox.advance_head(position.head_seq)
        if pong:
            self._outbox.send_frame({"type": "pong", "data": {"seq": position.head_seq}})

    async def _recheck(self) -> None:
        token = self._connection.token
        code = (await in_database(sessions.ended, [token])).get(token)
        # Renewed meanwhile: what was read is about the earlier token.
        if code is not None and self._connection.token == token:
            self._connection.end(code)

    # --- Signing in ----------------------------------------------------------------------------

    async def _sign_in(self, token: str, ref: Ref, resume: dict[str, Any] | None, *, by_header: bool = False) -> None:
        """The first token opens the socket, a later one of the same user renews it."""
        connection = self._connection
        is_first = not connection.is_ready
        try:
            claims = decode_session_token(token)
            if is_first:
                # Subscribe before reading, so that nothing written in between is missed.
                connection.user_id = claims.user_id
                await self._hub.join(claims.user_id, connection)
            elif claims.user_id != connection.user_id:
                self._refuse(ref, TokenInvalid(_("This token belongs to another account.")))
                connection.close(Close.FORBIDDEN, "other_user")
                return
            signed_in = await in_database(authenticate, token, connection.id, is_first)
        except Exception as error:
            if not by_header:
                self._refuse(ref, error)
            if is_first:
                known = isinstance(error, ApiError) and error.status_code in (401, 403)
                code = str(error.default_code) if isinstance(error, ApiError) else "service_unavailable"
                connection.close(Close.UNAUTHORISED if known else Close.RESTART, code)
                if not known:
                    logger.warning("no sign-in on a socket: %s", error.__class__.__name__)
            return
        connection.signed_in(
            session_id=signed_in.session_id,
            generation=claims.generation,
            sid=signed_in.sid,
            language=signed_in.language,
            token_expires_at=claims.expires_at,
        )
        if signed_in.position is None:
            self._outbox.send_frame({"type": "reply", "ref": ref, "ok": True, "data": {"user_id": connection.user_id}})
        else:
            named = {} if by_header else {"ref": ref}
            self._outbox.send_frame({"type": "ready", **named, "data": signed_in.ready})
            self._outbox.start_at(signed_in.position.head_seq)
            connection.replay_buffered()
        if resume is not None:
            self._outbox.resume(resume["epoch"], resume["seq"])

    def _refuse(self, ref: Ref, error: Exception) -> None:
        self._outbox.send_text(error_reply(ref, error, self._connection.language)[0])


class _HeaderToken(NamedTuple):
    token: str


class _Refused(NamedTuple):
    """A command above the rate limit."""

    ref: Ref
