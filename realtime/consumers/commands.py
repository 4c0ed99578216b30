"""What one socket is asked to do, one command after the other.

Reading puts commands into a short queue and never waits; a client that sends faster than they can be
carried out is flooding. A command that fails is answered with an error, it never ends the socket.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.settings import api_settings

from accounts.exceptions import AccountBlocked, ApiError, EmailNotVerified, RateLimited, TokenInvalid, TokenRevoked
from accounts.services import sessions
from accounts.tokens import decode_session_token
from realtime import inbound, outbound
from realtime.conf import conf
from realtime.consumers import frames
from realtime.consumers.database import in_database
from realtime.consumers.hub import keep_until_done
from realtime.consumers.typists import note_of
from realtime.inbound import Caller
from realtime.kinds import Device
from realtime.serializers.socket import AckInput, AuthInput, ResumeInput
from realtime.services import calls, log, presence, receipts, sockets

if TYPE_CHECKING:
    from realtime.consumers.connection import Connection

logger = logging.getLogger("parley.realtime")

BAD_FRAME, UNAUTHORISED, FORBIDDEN, FLOODING, RESTART = 4400, 4401, 4403, 4429, 4503
BAD_FRAMES_BEFORE_SIGN_IN = 3
WAIT_FOR_ROOM_SECONDS = 0.05
# A call begins with a burst of candidates; how many there may be is the call's own limit.
SIGNAL_COST = 0.25
NOTE_ACKS_SECONDS = 0.25

Ref = str | int | None


class _SignedIn(NamedTuple):
    user_id: int
    session_id: int
    sid: UUID
    language: str
    position: log.Position | None
    ready: dict[str, Any]


class Worker:
    __slots__ = (
        "_bad_frames",
        "_connection",
        "_delivered",
        "_inbox",
        "_is_noting",
        "_refilled_at",
        "_refused",
        "_task",
        "_tokens",
    )

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._inbox: list[Any] = []
        self._task: asyncio.Task[None] | None = None
        self._bad_frames = 0
        self._tokens = float(conf.COMMANDS_BURST)
        self._refilled_at = asyncio.get_running_loop().time()
        # In a row.
        self._refused = 0
        self._delivered: dict[int, int] = {}
        self._is_noting = False

    # --- Taking --------------------------------------------------------------------------------

    def take(self, text: str) -> None:
        """A text frame of the client."""
        item: frames.Command | frames.BadFrame | _Refused
        try:
            item = frames.read(text)
        except frames.BadFrame as error:
            item = error
            self._bad_frames += 1
            limit = conf.BAD_FRAMES if self._connection.is_ready else BAD_FRAMES_BEFORE_SIGN_IN
            if self._bad_frames > limit:
                self._connection.close(BAD_FRAME, "bad_frame")
                return
        else:
            self._bad_frames = 0
        cost = SIGNAL_COST if isinstance(item, frames.Command) and item.type == "call.signal" else 1
        if settings.RATELIMIT_ENABLE and not self._may_command(cost):
            self._refused += 1
            if self._refused > conf.COMMANDS_BURST:
                self._connection.close(FLOODING, "flooding")
                return
            item = _Refused(item.ref)
        if isinstance(item, frames.Command) and item.type == "ack" and self._connection.is_ready:
            self._ack(item)
            return
        self._put(item)

    def authenticate_by_header(self, token: str) -> None:
        self._put(_HeaderToken(token))

    def look(self) -> None:
        keep_until_done(self._look())

    def recheck(self) -> None:
        keep_until_done(self._recheck())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _put(self, item: Any) -> None:
        if len(self._inbox) >= conf.INBOX_FRAMES:
            self._connection.close(FLOODING, "flooding")
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

    # --- Doing ---------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._inbox and not self._connection.is_closing:
            while self._connection.sender.is_full():  # noqa: ASYNC110 (only for clients that do not read)
                await asyncio.sleep(WAIT_FOR_ROOM_SECONDS)
            item = self._inbox.pop(0)
            try:
                # An error puts its sentence into words when it is made.
                with translation.override(self._connection.language):
                    await self._do(item)
            except Exception as error:
                self._refuse(getattr(item, "ref", None), error)

    async def _do(self, item: Any) -> None:
        if isinstance(item, _HeaderToken):
            await self._sign_in(item.token, None, None, by_header=True)
        elif isinstance(item, _Refused):
            self._refuse(item.ref, RateLimited(retry_after=1))
        elif isinstance(item, frames.BadFrame):
            self._refuse(item.ref, ParseError(item.message))
        elif item.type == "auth":
            data = _checked(AuthInput, item.data)
            await self._sign_in(data["token"], item.ref, data.get("resume"))
        elif not self._connection.is_ready:
            self._refuse(item.ref, TokenInvalid())
            self._connection.close(UNAUTHORISED, "token_invalid")
        elif item.type == "ping":
            await self._look(pong=True)
        elif item.type == "resume":
            data = _checked(ResumeInput, item.data)
            self._connection.sender.resume(data.get("epoch"), data["seq"])
        elif item.type == "ack":
            self._ack(item)
        elif item.type != "typing" or not await self._typing(item):
            await self._carry_out(item)

    async def _typing(self, item: frames.Command) -> bool:
        connection = self._connection
        note = note_of(item, session_id=connection.session_id, user_id=connection.user_id)
        if note is None or not await connection.hub.typists.passed_on(note):
            return False
        connection.sender.say({"type": "reply", "ref": item.ref, "ok": True, "data": {}})
        return True

    async def _carry_out(self, item: frames.Command) -> None:
        connection = self._connection
        ok, text, fatal = await in_database(
            _execute, connection.sid, connection.user_id, connection.device, connection.language, item
        )
        connection.sender.say_text(text)
        if not ok and fatal is not None:
            connection.end(fatal)

    def _ack(self, item: frames.Command) -> None:
        try:
            seq = _checked(AckInput, item.data)["seq"]
        except ValidationError as error:
            self._refuse(item.ref, error)
            return
        for conversation_id, message_id in self._connection.sender.ack(seq).items():
            self._delivered[conversation_id] = max(message_id, self._delivered.get(conversation_id, 0))
        if not self._is_noting:
            self._is_noting = True
            keep_until_done(self._note_acks())

    async def _note_acks(self) -> None:
        """Writes down what was acknowledged; many acknowledgements become few writes."""
        connection, noted = self._connection, 0
        try:
            while connection.sender.acked > noted and connection.is_ready:
                noted = connection.sender.acked
                delivered, self._delivered = self._delivered, {}
                await in_database(
                    receipts.acknowledged,
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

    async def _look(self, *, pong: bool = False) -> None:
        """Reads where the log stands; a ping is told."""
        connection = self._connection
        connection.hub.rejoin(connection.user_id)
        position = await in_database(log.position, connection.user_id)
        connection.sender.heard(position.head_seq)
        if pong:
            connection.sender.say({"type": "pong", "data": {"seq": position.head_seq}})

    async def _recheck(self) -> None:
        ended = await in_database(sockets.ended, [self._connection.session_id])
        code = ended.get(self._connection.session_id)
        if code is not None:
            self._connection.end(code)

    # --- Signing in ----------------------------------------------------------------------------

    async def _sign_in(self, token: str, ref: Ref, resume: dict[str, Any] | None, *, by_header: bool = False) -> None:
        """The first token opens the socket, a later one of the same person renews it."""
        connection = self._connection
        is_first = not connection.is_ready
        try:
            claims = decode_session_token(token)
            if is_first:
                # Listening before looking: what is written in between is not missed.
                connection.user_id = claims.user_id
                await connection.hub.join(claims.user_id, connection)
            elif claims.user_id != connection.user_id:
                self._refuse(ref, TokenInvalid(_("This token belongs to somebody else.")))
                connection.close(FORBIDDEN, "other_user")
                return
            signed_in = await in_database(_authenticate, token, connection.id, is_first)
        except Exception as error:
            if not by_header:
                self._refuse(ref, error)
            if is_first:
                known = isinstance(error, ApiError) and error.status_code in (401, 403)
                code = str(error.default_code) if isinstance(error, ApiError) else "service_unavailable"
                connection.close(UNAUTHORISED if known else RESTART, code)
                if not known:
                    logger.warning("no sign-in on a socket: %s", error.__class__.__name__)
            return
        connection.signed_in(
            session_id=signed_in.session_id,
            sid=signed_in.sid,
            language=signed_in.language,
            token_expires_at=claims.expires_at,
        )
        sender = connection.sender
        if signed_in.position is None:
            sender.say({"type": "reply", "ref": ref, "ok": True, "data": {"user_id": connection.user_id}})
        else:
            named = {} if by_header else {"ref": ref}
            sender.say({"type": "ready", **named, "data": signed_in.ready})
            sender.start_at(signed_in.position.head_seq)
            connection.catch_up()
        if resume is not None:
            sender.resume(resume["epoch"], resume["seq"])

    def _refuse(self, ref: Ref, error: Exception) -> None:
        self._connection.sender.say_text(_error_reply(ref, error, self._connection.language)[0])


class _HeaderToken(NamedTuple):
    token: str


class _Refused(NamedTuple):
    """A command beyond the rate."""

    ref: Ref


def _checked(serializer: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    return checked.validated_data  # type: ignore[no-any-return]


def _authenticate(token: str, socket_id: str, is_first: bool) -> _SignedIn:
    user, session = sessions.authenticate(token)
    if not is_first:
        sockets.renewed(socket_id=socket_id, session_id=session.id)
        return _SignedIn(user.id, session.id, session.sid, user.language, None, {})
    device = Device(session.id, socket_id)
    opened = sockets.opened(socket_id=socket_id, user_id=user.id, session_id=session.id)
    if opened.in_call:
        calls.note_open(user_id=user.id, device=device)
    if opened.is_first:
        presence.came(person=user)
    ready = _ready(user.id, opened.position, device, in_call=opened.in_call)
    return _SignedIn(user.id, session.id, session.sid, user.language, opened.position, ready)


def _ready(user_id: int, position: log.Position, device: Device, *, in_call: bool) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "epoch": position.epoch,
        "seq": position.head_seq,
        "min_seq": position.min_seq,
        "ping_s": conf.PING_SECONDS,
        "window": conf.WINDOW_EVENTS,
        "calls": outbound.live_calls(user_id, device) if in_call else [],
    }


def _execute(
    sid: UUID, user_id: int, device: Device, language: str, item: frames.Command
) -> tuple[bool, str, str | None]:
    """Carries out a command: whether it worked, the reply, and the code that ends the socket, if any."""
    with translation.override(language):
        try:
            command = inbound.COMMANDS.get(item.type)
            if command is None:
                raise ValidationError({"type": [_("There is no such command.")]})
            user, _session = sessions.recheck(sid=sid, user_id=user_id)
            if command.for_verified and not user.is_verified:
                raise EmailNotVerified
            data = _checked(command.input, item.data)
            result = command.run(Caller(user, device), data)
            return True, frames.write({"type": "reply", "ref": item.ref, "ok": True, "data": result}), None
        except Exception as error:
            text, code = _error_reply(item.ref, error, language)
            fatal = code if isinstance(error, TokenRevoked | AccountBlocked) else None
            return False, text, fatal


def _error_reply(ref: Ref, error: Exception, language: str) -> tuple[str, str]:
    """The same code and sentence as over REST: the project's own exception handler words it."""
    with translation.override(language):
        body = api_settings.EXCEPTION_HANDLER(error, {}).data  # type: ignore[operator]
        told = {key: value for key, value in body.items() if key != "request_id"}
        return frames.write({"type": "reply", "ref": ref, **told}), str(body["error"])
