"""Signs a socket in, renews its token, and closes it when the token, its session or the socket's life ends."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from django.utils import translation
from django.utils.translation import gettext_lazy as _

from accounts.exceptions import TokenInvalid
from accounts.sign_in import sessions
from accounts.tokens import SessionToken
from core.api.exceptions import ApiError
from core.languages import requested_language
from core.request_context import bearer_of, is_of_proxy
from realtime import wakeups
from realtime.calls import services as calls
from realtime.calls.selectors import live_calls_for
from realtime.close_codes import Close
from realtime.conf import conf
from realtime.consumers.database import in_database
from realtime.consumers.hub import Hub
from realtime.consumers.outbox import Outbox
from realtime.consumers.protocol import Identity, OpenSocket, Ref, Scope
from realtime.serializers import ReadyData
from realtime.services import presence, sockets

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger("parley.realtime")

# The time is read at least this often, because the clock of the event loop stands still while the machine sleeps.
CLOCK_SECONDS = 20.0
# Query parameters in which clients send tokens by mistake; access logs would store them.
QUERY_TOKENS = {"token", "access_token", "auth", "authorization", "bearer", "jwt"}


@dataclass(slots=True, eq=False)
class Authentication:
    _socket: OpenSocket
    _outbox: Outbox
    _asked_language: str | None = None
    # The user whose messages the hub passes on; set with the first token.
    _user_id: int = 0
    # Messages that arrive between joining the user's group and `ready`.
    _held: list[wakeups.Message] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None
    _signing_in: asyncio.Future[SignedIn] | None = None
    _closes_at: float = 0
    _expires_at: float = 0
    _is_expiry_announced: bool = False

    async def start(self, scope: Scope) -> None:
        """Signs in with the token of the handshake, or waits for one in a frame."""
        self._closes_at = time.time() + conf.LIFE_SECONDS * random.uniform(0.95, 1.0)
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        self._asked_language = requested_language(headers.get(b"accept-language", ""))
        if self._asked_language:
            self._socket.language = self._asked_language
        if _has_query_token(scope):
            self._socket.close_soon(Close.UNAUTHORISED, "token_in_query")
        elif (header := headers.get(b"authorization")) is not None and not is_of_proxy(header):
            await self.sign_in(bearer_of(header), by_header=True)
        else:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(conf.AUTH_SECONDS, self._socket.close_soon, Close.SLOW, "no_auth")

    async def sign_in(self, text: str, ref: Ref = None, *, by_header: bool = False) -> bool:
        """Opens the socket with its first token, or renews it with a later one of the same user. Returns whether it
        succeeded."""
        socket = self._socket
        is_first = socket.identity is None
        if is_first:
            self._cancel_timer()  # the client has sent its token in time
        try:
            token = SessionToken(text)
            if is_first:
                # Subscribe before reading, so that nothing written in between is missed.
                self._user_id = token.user_id
                await Hub.here().join(token.user_id, socket)
            elif token.user_id != self._user_id:
                self._outbox.send_error(ref, TokenInvalid(_("This token belongs to another account.")))
                socket.close_soon(Close.FORBIDDEN, "other_user")
                return False
            async with Hub.here().sign_ins:
                self._signing_in = asyncio.ensure_future(
                    in_database(_sign_in, token, socket.id, is_first, socket.language)
                )
                # The thread finishes the work even if the socket closes meanwhile.
                signed_in = await asyncio.shield(self._signing_in)
        except Exception as error:
            if not by_header:
                self._outbox.send_error(ref, error)
            if is_first:
                self._refuse(error)
            return False
        self._signed_in(signed_in, token)
        if signed_in.ready is None:
            self._outbox.send_reply(ref, {"user_id": token.user_id})
        else:
            named = {} if by_header else {"ref": ref}
            self._outbox.send_frame({"type": "ready", **named, "data": signed_in.ready})
            self._outbox.log.start_at(signed_in.ready["seq"])
            held, self._held = self._held, []
            for message in held:
                socket.on_message(message)
        # A warning that is already due is sent after the answer, because the first frame is `ready`.
        self._set_timer()
        return True

    def hold(self, message: wakeups.Message) -> None:
        """Keeps a message of the hub, without its text, until the socket is signed in."""
        self._held.append({**message, "copy": None} if message["type"] == "new_events" else message)

    async def recheck(self) -> None:
        """Closes the socket if its session has ended."""
        identity = self._socket.identity
        if identity is None:
            return
        code = (await in_database(sessions.ended, [identity.token])).get(identity.token)
        # The token was renewed meanwhile, so the result is about the earlier one.
        if code is not None and self._socket.identity == identity:
            self._socket.close_soon(Close.UNAUTHORISED, code)

    async def recorded_identity(self) -> Identity | None:
        """The identity whose socket is recorded as open, even if the socket closed while that was written."""
        if self._socket.identity is None and self._signing_in is not None:
            with suppress(Exception):
                return (await self._signing_in).identity
        return self._socket.identity

    def stop(self) -> None:
        self._cancel_timer()
        self._held.clear()
        if self._user_id:
            Hub.here().leave(self._user_id, self._socket)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, ApiError) and error.status_code in (401, 403):
            self._socket.close_soon(Close.UNAUTHORISED, str(error.default_code))
            return
        code = str(error.default_code) if isinstance(error, ApiError) else "service_unavailable"
        self._socket.close_soon(Close.RESTART, code)
        logger.warning("no sign-in on a socket: %s", error.__class__.__name__)

    def _signed_in(self, signed_in: SignedIn, token: SessionToken) -> None:
        self._signing_in = None
        self._socket.identity = signed_in.identity
        self._socket.language = self._asked_language or signed_in.language
        self._is_expiry_announced = False
        self._expires_at = token.expires_at.timestamp()

    def _set_timer(self) -> None:
        """Sets the timer to the next of the expiry warning, the token's expiry and the end of the socket's life."""
        self._cancel_timer()
        if self._socket.is_closing:
            return
        now = time.time()
        if now >= self._expires_at:
            self._socket.close_soon(Close.UNAUTHORISED, "token_expired")
            return
        if now >= self._closes_at:
            self._outbox.send_frame({"type": "goaway", "data": {"retry_ms": random.randint(500, 5000)}})
            self._socket.close_soon(Close.RESTART, "goaway")
            return
        warning = self._expires_at - conf.EXPIRING_SECONDS
        if now >= warning and not self._is_expiry_announced:
            self._is_expiry_announced = True
            expires_at = datetime.fromtimestamp(self._expires_at, UTC)
            self._outbox.send_frame({"type": "auth.expiring", "data": {"expires_at": expires_at}})
        moments = [self._expires_at, self._closes_at, now + CLOCK_SECONDS]
        if not self._is_expiry_announced:
            moments.append(warning)
        self._timer = asyncio.get_running_loop().call_later(min(moments) - now, self._set_timer)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class SignedIn(NamedTuple):
    identity: Identity
    language: str
    # The data of the `ready` frame; None for a renewed token.
    ready: dict[str, Any] | None


def _sign_in(token: SessionToken, socket_id: str, is_first: bool, language: str) -> SignedIn:
    """Checks the token and records the socket. Runs in a thread of `in_database`."""
    # The message of an error is translated when the error is created.
    with translation.override(language):
        user, session = sessions.of_token(token)
    identity = Identity(user.id, session.id, session.sid, token.generation, socket_id)
    if not is_first:
        sockets.renewed(identity.device)
        calls.socket_renewed(device=identity.device)
        return SignedIn(identity, user.language, None)
    try:
        ready = _open(user, identity)
    except Exception:
        # The client connects again; until then the row would count as an open socket.
        with suppress(Exception):
            sockets.closed(socket_ids=[socket_id])
            calls.socket_closed(socket_ids=[socket_id])
        raise
    return SignedIn(identity, user.language, ready)


def _open(user: User, identity: Identity) -> dict[str, Any]:
    """Records the socket and returns the data of its `ready` frame."""
    opened = sockets.opened(identity.device)
    if opened.in_call:
        calls.socket_opened(device=identity.device)
    if opened.is_first:
        presence.user_connected(person=user)
    live = live_calls_for(user.id) if opened.in_call else []
    return ReadyData.render(opened.position, live, device=identity.device)


def _has_query_token(scope: Scope) -> bool:
    query = scope.get("query_string", b"")[:8192].decode("latin-1")
    return any(name.lower() in QUERY_TOKENS for name, _ in parse_qsl(query, keep_blank_values=True))
