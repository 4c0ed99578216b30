"""A signed-in user: every operation with retries, and all events of the user from a place that is kept in a file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from .api.auth import auth_login, auth_refresh
from .api.messages import messages_list, messages_list_conversations, messages_mark_read, messages_send
from .api.server import server_sessions_open, server_users_find
from .client import AuthenticatedClient, Client
from .events import CONTROL, Event, Reload, parse
from .models import (
    ErrorResponse,
    LoginRequest,
    Message,
    SendMessageRequest,
    ServerSessionRequest,
    SignInResponse,
    TwoStepRequiredResponse,
    UpToMessageRequest,
)
from .types import UNSET, Response, Unset

T = TypeVar("T")
Answer = Callable[[AuthenticatedClient], Awaitable[Response[ErrorResponse | T]]]
Handler = Callable[[Event], Awaitable[None]]

log = logging.getLogger("parley_client")

TRIES = 5
LONGEST_WAIT_SECONDS = 30.0
ACK_EVERY_EVENTS = 50
SILENCE_SECONDS = 60.0
UNAUTHORISED, FORBIDDEN = 4401, 4403
SIGNED_OUT = {"token_expired", "token_revoked", "token_invalid"}


class ParleyError(Exception):
    """What the server refused. Branch on `code`; a code that you do not know is treated by `status`."""

    def __init__(self, code: str, message: str, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.status, self.retry_after = code, status, retry_after

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later without a change."""
        return self.status == 0 or self.status == 429 or self.status >= 500


class Parley:
    """A user of a server. `state` is the file of the token and of the place in the event log; one program uses it."""

    def __init__(
        self,
        url: str,
        *,
        email: str,
        password: str | None = None,
        key: str | None = None,
        state: str | Path = "parley.json",
    ) -> None:
        """With a `key` (a server key with the scopes users:read and sessions:create) no password is needed."""
        self.url = url.rstrip("/")
        self._email, self._password, self._key = email, password, key
        self._file = Path(state)
        self._state: dict[str, Any] = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._api: AuthenticatedClient | None = None
        # One request for a token at a time.
        self._changing = asyncio.Lock()

    @classmethod
    def from_environment(cls, state: str | Path = "parley.json") -> Self:
        """PARLEY_URL and PARLEY_EMAIL, with PARLEY_PASSWORD or PARLEY_KEY."""
        values = {name: os.environ.get(f"PARLEY_{name.upper()}") for name in ("password", "key")}
        return cls(os.environ["PARLEY_URL"], email=os.environ["PARLEY_EMAIL"], state=state, **values)

    async def __aenter__(self) -> Self:
        if "token" not in self._state:
            await self._sign_in(spent=None)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._api is not None:
            await self._api.get_async_httpx_client().aclose()

    @property
    def user_id(self) -> int:
        return int(self._state["user_id"])

    # --- Requests --------------------------------------------------------------------------------

    async def call(self, answer: Answer[T]) -> T:
        """The reply of an operation that may be repeated: `await parley.call(lambda api: auth_me.asyncio_detailed(client=api))`.

        Waits and tries again after a lost connection, 429 and 503. Signs in again when the session has ended.
        ParleyError.
        """
        used: str | None = None

        async def once() -> T:
            nonlocal used
            used = self._state["token"]
            return _read(await answer(self._client()))

        try:
            return await _repeated(once)
        except ParleyError as error:
            if error.code not in SIGNED_OUT:
                raise
        await self._sign_in(spent=used)
        return await _repeated(once)

    async def send(self, conversation_id: int, body: str, *, client_id: str) -> None:
        """Sends a text once. A message with this `client_id` that is there already counts as sent."""
        request = SendMessageRequest(body=body, client_id=client_id)
        try:
            await self.call(lambda api: messages_send.asyncio_detailed(conversation_id, client=api, body=request))
        except ParleyError as error:
            if error.code != "idempotency_conflict":
                raise

    async def mark_read(self, message: Message) -> None:
        """The user has read the conversation up to this message."""
        request = UpToMessageRequest(message_id=message.id)
        await self.call(
            lambda api: messages_mark_read.asyncio_detailed(message.conversation_id, client=api, body=request)
        )

    async def unread(self) -> AsyncIterator[Message]:
        """The messages that this user has not read, the oldest of each conversation first."""
        cursor: str | None = None
        while True:
            page = await self.call(
                lambda api, at=cursor: messages_list_conversations.asyncio_detailed(client=api, cursor=at or UNSET)  # type: ignore[misc]
            )
            for conversation in page.conversations:
                after = conversation.last_read_id
                while conversation.unread_count:
                    found = await self.call(
                        lambda api, chat=conversation.id, at=after: messages_list.asyncio_detailed(
                            chat, client=api, after=at
                        )  # type: ignore[misc]
                    )
                    for message in sorted(found.messages, key=lambda message: message.id):
                        after = message.id
                        yield message
                    if not found.has_more:
                        break
            cursor = page.next_cursor
            if cursor is None:
                return

    # --- Signing in ------------------------------------------------------------------------------

    async def renew(self) -> None:
        """A new token of the same session. `run` calls it in time; several calls at once are one. ParleyError."""
        await self._replace(self._state["token"], self._by_token)

    def _client(self) -> AuthenticatedClient:
        if self._api is None:
            self._api = AuthenticatedClient(self.url, self._state["token"], **_options())
        return self._api

    async def _sign_in(self, *, spent: str | None) -> None:
        """In place of this token. Another task may have signed in meanwhile: then there is nothing to do."""
        await self._replace(spent, self._by_key if self._key else self._by_password)

    async def _replace(self, spent: str | None, obtain: Callable[[], Awaitable[tuple[str, int]]]) -> None:
        async with self._changing:
            if self._state.get("token") != spent:
                return
            token, user_id = await _repeated(obtain)
            self._keep(token=token, user_id=user_id)
            if self._api is not None:
                # The client stays: other tasks may be in the middle of a request.
                self._api.token = token
                self._api.get_async_httpx_client().headers["Authorization"] = f"Bearer {token}"

    async def _by_token(self) -> tuple[str, int]:
        try:
            return _read(await auth_refresh.asyncio_detailed(client=self._client())).token, self.user_id
        except ParleyError as error:
            if error.code not in SIGNED_OUT:
                raise
        return await (self._by_key() if self._key else self._by_password())

    async def _by_password(self) -> tuple[str, int]:
        body = LoginRequest(email=self._email, password=self._password or "")
        async with Client(self.url, **_options()) as api:
            response = await auth_login.asyncio_detailed(client=api, body=body)
        reply = response.parsed
        if isinstance(reply, TwoStepRequiredResponse):
            raise ParleyError("two_step_required", "This account has a second password: use a server key.", 403)
        if not isinstance(reply, SignInResponse):
            raise _failure(response)
        return reply.token, reply.user.id

    async def _by_key(self) -> tuple[str, int]:
        async with AuthenticatedClient(self.url, self._key or "", **_options()) as api:
            found = _read(await server_users_find.asyncio_detailed(client=api, email=self._email))
            if not found.users:
                raise ParleyError("user_not_found", f"No account has the address {self._email}.", 404)
            user_id = found.users[0].id
            body = ServerSessionRequest(device_name="parley-client")
            opened = _read(await server_sessions_open.asyncio_detailed(user_id, client=api, body=body))
        return opened.token, user_id

    def _keep(self, **values: Any) -> None:
        """Writes the file as a whole: it is complete whenever the program is killed."""
        self._state |= values
        new = self._file.with_name(self._file.name + ".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self._state, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._file)

    # --- Events ----------------------------------------------------------------------------------

    async def run(self, handle: Handler) -> None:
        """Awaits `handle` for each event, one after the other, until the sign-in ends: ParleyError.

        The place of an event is kept and acknowledged after `handle` has returned. A program that is killed handles its
        last event again, so what a handler does must be safe to repeat. An event without a `seq` is not repeated. When
        the server refuses what a handler does, that is logged; after a passing error `handle` is called again.
        """
        failures = 0
        while True:
            connection = _Connection(self, handle)
            try:
                await connection.hold()
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else 0
                if code == FORBIDDEN:
                    raise ParleyError("forbidden", "The server refuses this origin.", 403) from closed
                if code == UNAUTHORISED:
                    await self._sign_in(spent=connection.token)
            except (OSError, InvalidHandshake, TimeoutError) as error:
                log.info("no connection: %s", error)
            failures = 0 if connection.was_ready else failures + 1
            await asyncio.sleep(_pause(failures))


class _Connection:
    """One connection of the socket."""

    socket: ClientConnection
    token: str

    def __init__(self, parley: Parley, handle: Handler) -> None:
        self.parley, self.handle = parley, handle
        self.was_ready = False
        self.epoch = ""
        self.acknowledged = 0

    async def hold(self) -> None:
        """Until the connection ends: ConnectionClosed, or TimeoutError after a long silence."""
        address = self.parley.url.replace("http", "ws", 1) + "/api/v1/realtime"
        async with connect(address, max_size=None) as self.socket:
            await self._authenticate(self._place())
            beat = asyncio.create_task(self._ping())
            try:
                while True:
                    async with asyncio.timeout(SILENCE_SECONDS):
                        frame = json.loads(await self.socket.recv())
                    await self._take(frame)
            finally:
                beat.cancel()
                with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                    await beat

    async def _take(self, frame: dict[str, Any]) -> None:
        kind, data = frame["type"], frame.get("data", {})
        place = self._place()
        if kind == "ready":
            self.was_ready, self.epoch = True, data["epoch"]
            if place is None:
                await self._reload("start", data["seq"])
        elif kind == "resync":
            await self._reload(data["reason"], data["seq"])
        elif kind == "auth.expiring":
            await self.parley.renew()
            await self._authenticate()
        elif kind == "reply":
            if not frame["ok"]:
                log.warning("the socket refused a command: %s", frame["error"])
        elif "seq" not in frame:
            if kind not in CONTROL:
                await self._handle(parse(frame))
        elif place is not None and frame["seq"] > place["seq"] + 1:
            await self._send("resume", place)
        elif place is not None and frame["seq"] > place["seq"]:
            await self._handle(parse(frame))
            self.parley._keep(seq=frame["seq"])
            await self._acknowledge()

    async def _reload(self, reason: str, seq: int) -> None:
        """The place is kept when the handler has read the state, so a killed program reads it again."""
        await self._handle(Reload(reason))
        self.parley._keep(epoch=self.epoch, seq=seq)

    async def _handle(self, event: Event) -> None:
        attempt = 0
        while True:
            try:
                return await self.handle(event)
            except ParleyError as error:
                if not error.is_temporary:
                    log.warning("an event was not handled: %s", error)
                    return None
                await asyncio.sleep(error.retry_after or _pause(attempt))
                attempt += 1

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(SILENCE_SECONDS / 3)
            await self._acknowledge(least=1)
            await self._send("ping", {})

    async def _acknowledge(self, least: int = ACK_EVERY_EVENTS) -> None:
        seq = self.parley._state.get("seq", 0)
        if seq - self.acknowledged >= least:
            self.acknowledged = seq
            await self._send("ack", {"seq": seq})

    def _place(self) -> dict[str, Any] | None:
        state = self.parley._state
        return {"epoch": state["epoch"], "seq": state["seq"]} if "seq" in state else None

    async def _authenticate(self, resume: dict[str, Any] | None = None) -> None:
        self.token = self.parley._state["token"]
        await self._send("auth", {"token": self.token} | ({"resume": resume} if resume else {}))

    async def _send(self, kind: str, data: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, "ref": kind, "data": data}))


def _options() -> dict[str, Any]:
    return {"timeout": httpx.Timeout(30), "httpx_args": {"event_hooks": {"response": [_refuse_pages]}}}


async def _refuse_pages(response: httpx.Response) -> None:
    """A proxy before the server has error pages of its own, which the generated functions cannot read: ParleyError."""
    if response.is_success and "html" not in response.headers.get("Content-Type", ""):
        return
    try:
        ErrorResponse.from_dict(json.loads(await response.aread()))
    except (ValueError, KeyError, AttributeError, TypeError):
        wait = response.headers.get("Retry-After", "")
        status = 0 if response.is_success else response.status_code
        raise ParleyError(
            "bad_response", f"HTTP {response.status_code}", status, float(wait) if wait.isdecimal() else None
        ) from None


async def _repeated(once: Callable[[], Awaitable[T]]) -> T:
    """Awaits `once` again after errors that pass. ParleyError."""
    for attempt in range(TRIES):
        try:
            return await once()
        except httpx.TransportError as error:
            failure = ParleyError("network_error", "The server cannot be reached.")
            failure.__cause__ = error
        except ParleyError as error:
            if not error.is_temporary:
                raise
            failure = error
        await asyncio.sleep(failure.retry_after or _pause(attempt))
    raise failure


def _read(response: Response[ErrorResponse | T]) -> T:
    """The reply of a request that succeeded. ParleyError."""
    if response.parsed is None or isinstance(response.parsed, ErrorResponse):
        raise _failure(response)
    return response.parsed


def _failure(response: Response[Any]) -> ParleyError:
    status, reply = int(response.status_code), response.parsed
    if not isinstance(reply, ErrorResponse):
        # A status that the document does not name.
        reply = ErrorResponse.from_dict(json.loads(response.content))
    wait = None if isinstance(reply.retry_after, Unset) else reply.retry_after
    return ParleyError(reply.error, reply.message, status, wait)


def _pause(attempt: int) -> float:
    """Seconds, at random: after a restart of the server, clients do not all come back in the same second."""
    return random.uniform(0.1, min(LONGEST_WAIT_SECONDS, 0.5 * 2.0**attempt))
