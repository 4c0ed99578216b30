"""Keeps slow clients from holding threads. A view is synchronous and holds a thread while it runs. The body is received
before it runs, within a limit of time and size. The reply is buffered until the client has read it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from io import SEEK_END, BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from rest_framework.exceptions import MethodNotAllowed

from core.api import errors
from core.api.parsers import MAX_FORM_BYTES
from server.middleware import RequestContextMiddleware, run_middleware

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

BODY_SECONDS = 12.0
# How long and how much of a refused body is read. If the server closed while the client sends, the reply would be lost.
LINGER_SECONDS = 5.0
LINGER_BYTES = 16 * 1024 * 1024
# A client that does not read for this long counts as disconnected.
READ_SECONDS = 60.0
PIECE = 65_536
IN_MEMORY = 262_144
# A reply larger than this keeps its thread until the client has read it.
MAX_BUFFERED_BYTES = 64 * 1024 * 1024

UNREADABLE = partial(errors.plain_envelope, SuspiciousOperation())


def normalise_path(scope: dict[str, Any]) -> dict[str, Any]:
    """The scope with a path that begins with "/", as Django's urls expect it.

    uvicorn passes on the target of a request as it stands: absolute (`GET http://host/path`, which every server must
    accept) or without a path (`OPTIONS *`). The host stays that of the Host header, which is checked.
    """
    _scheme, separator, rest = scope["path"].partition("://")
    path = "/" + (rest.partition("/")[2] if separator else scope["path"])
    return {**scope, "path": path, "raw_path": quote(path).encode()}


def without_underscores(scope: dict[str, Any]) -> dict[str, Any]:
    """The scope without headers whose names have underscores. In WSGI `X_Forwarded_For` has the name of
    `X-Forwarded-For`, so a client's header would pass for a part of the proxy's. nginx drops them, too."""
    if not any(b"_" in name for name, _ in scope["headers"]):
        return scope
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if b"_" not in name]}


class ReadBodyFirst:
    """ASGI middleware: calls `app` when the body is complete, and buffers its reply."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        limit = _limit_for(headers)
        declared = int(headers.get(b"content-length", 0))  # servers refuse a value that is not a number
        body: IO[bytes] = BytesIO()
        if declared or b"transfer-encoding" in headers:
            body = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (as long as the request)
            try:
                if declared > limit:
                    raise RequestDataTooBig
                async with asyncio.timeout(BODY_SECONDS):
                    await _receive_into(body, receive, limit)
            except TimeoutError:
                await _refuse(scope, receive, send, UNREADABLE, read=False)
                return
            except ConnectionError:
                return
            except (OSError, RequestDataTooBig) as error:
                await _refuse(scope, receive, send, partial(errors.plain_envelope, error))
                return
            scope = _with_length(scope, body.tell())
            body.seek(0)
        await _answer(self._app, scope, body, send)


def reply_without_thread(scope: dict[str, Any], make_response: Callable[[], HttpResponse]) -> HttpResponse:
    """The reply to a request that does not get a thread, with the headers that middleware adds to every other reply."""
    request = ASGIRequest(_with_length(scope, 0), BytesIO())
    return RequestContextMiddleware(lambda request: run_middleware(request, make_response))(request)


def start_of(response: HttpResponse) -> Message:
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


async def _refuse(
    scope: dict[str, Any], receive: Receive, send: Send, make_response: Callable[[], HttpResponse], *, read: bool = True
) -> None:
    """Replies before the body has been received, and closes the connection."""
    response = reply_without_thread(scope, make_response)
    response["Connection"] = "close"
    await send(start_of(response))
    content = b"" if scope["method"] == "HEAD" else response.content
    # The client has the whole reply now. It is completed when the client has stopped sending.
    await send({"type": "http.response.body", "body": content, "more_body": True})
    if read:
        await _read_the_rest(receive)
    await send({"type": "http.response.body", "body": b""})


def _method_not_allowed(method: str) -> HttpResponse:
    response = errors.plain_envelope(MethodNotAllowed(method))
    response["Allow"] = "GET, HEAD"
    return response


def read_only(app: Application) -> Application:
    """For health checks and metrics: allows GET and HEAD, ignores their bodies, and refuses other methods."""

    async def answer(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await _refuse(scope, receive, send, lambda: _method_not_allowed(scope["method"]), read=False)
            return
        await _answer(app, _with_length(scope, 0), BytesIO(), send)

    return answer


async def _answer(app: Application, scope: dict[str, Any], body: IO[bytes], send: Send) -> None:
    """Calls `app` with a body that has been received, and buffers its reply."""
    reply = _Reply(send)
    try:
        await app(scope, _replay(body), reply.send)
    finally:
        await reply.finish()


async def _receive_into(body: IO[bytes], receive: Receive, limit: int) -> None:
    """ConnectionError when the client disconnects, RequestDataTooBig beyond the limit, OSError without room for it."""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ConnectionError
        body.write(message.get("body", b""))
        if body.tell() > limit:
            raise RequestDataTooBig
        more = message.get("more_body", False)
    body.flush()


async def _read_the_rest(receive: Receive) -> None:
    remaining = LINGER_BYTES
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while remaining > 0:
                message = await receive()
                remaining -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


def _replay(body: IO[bytes]) -> Receive:
    async def receive() -> Message:
        piece = body.read(PIECE)
        return {"type": "http.request", "body": piece, "more_body": len(piece) == PIECE}

    return receive


def _limit_for(headers: dict[bytes, bytes]) -> int:
    is_form = headers.get(b"content-type", b"").lower().startswith(b"multipart/")
    return MAX_FORM_BYTES if is_form else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def _with_length(scope: dict[str, Any], length: int) -> dict[str, Any]:
    """Sets the Content-Length of the received body, even when it was sent in chunks."""
    headers = [
        (name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")
    ]
    return scope | {"headers": [*headers, (b"content-length", str(length).encode())] if length else headers}


class _Reply:
    """Buffers a reply as fast as its thread produces it, on disk if it is long, and sends it as fast as the client
    reads."""

    def __init__(self, send: Send) -> None:
        self._send = send
        # The messages that the client has not read yet; None after the last one.
        self._waiting: asyncio.Queue[Message | None] = asyncio.Queue()
        self._bytes = 0
        self._file: Any = None
        self._sender: asyncio.Task[None] | None = None
        self._was_read = asyncio.Event()

    async def send(self, message: Message) -> None:
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_buffered())
        while self._bytes > MAX_BUFFERED_BYTES and not self._sender.done():
            self._was_read.clear()
            await self._was_read.wait()
        # Done early when the client has disconnected.
        if not self._sender.done():
            self._buffer(message)

    async def finish(self) -> None:
        """Returns when the client has read everything, or has disconnected."""
        if self._sender is not None:
            self._waiting.put_nowait(None)
            await self._sender

    def _buffer(self, message: Message) -> None:
        piece = message.get("body", b"")
        self._bytes += len(piece)
        if self._bytes > IN_MEMORY and piece:
            if self._file is None:
                self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (as long as the reply)
            start = self._file.seek(0, SEEK_END)
            self._file.write(piece)
            message = message | {"body": (start, len(piece))}
        self._waiting.put_nowait(message)

    async def _send_buffered(self) -> None:
        try:
            while (message := await self._waiting.get()) is not None:
                piece = message.get("body", b"")
                if isinstance(piece, tuple):
                    start, length = piece
                    self._file.seek(start)
                    message = message | {"body": self._file.read(length)}
                async with asyncio.timeout(READ_SECONDS):
                    await self._send(message)
                self._bytes -= len(message.get("body", b""))
                self._was_read.set()
        except (OSError, TimeoutError):
            return
        finally:
            self._was_read.set()
