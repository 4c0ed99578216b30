"""The ASGI server: uvicorn with a shutdown that clients can distinguish from a failure.

Imports no Django: worker processes load this module before the settings.
"""

from __future__ import annotations

import json
import random
import socket
import uuid
from asyncio import TimerHandle
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.supervisors import Multiprocess
from websockets.frames import Frame
from websockets.protocol import State

from server.request_lines import StrictLines

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

CLOSE_FLOODING = 4429
CLOSE_RESTART = 4503
CLOSE_SECONDS = 2.0
FRAME_BYTES = 65_536
GRACE_SECONDS = 20
HEARTBEAT_SECONDS = 20.0
HEADER_SECONDS = 15.0
# A client may send FRAMES_BURST frames at once, and FRAMES_PER_SECOND after that. Only frames that the application does
# not see, or cannot take yet, are counted: pings, pongs, parts of messages, and messages while MESSAGES_WAITING others
# wait.
MESSAGES_WAITING = 32
# Reading stops while this many messages wait for the application.
MESSAGES_READ_AHEAD = 8
FRAMES_BURST = 4000
FRAMES_PER_SECOND = 200
# Bytes are parsed in pieces: a hundred thousand frames fit into what the loop reads at once.
PIECE_BYTES = 4096


class RestartingWebSocket(WebSocketsSansIOProtocol):
    """Closes with 4503 when the server stops, so that clients reconnect with jitter.

    It closes at once when the application closes the socket. uvicorn would first wait until the client has read
    everything, which a client that does not read never does.

    It closes with 4429 when the client floods it with frames that are not messages, or with more messages than the
    application has taken, which would keep the event loop busy. It stops reading when MESSAGES_READ_AHEAD messages
    wait. uvicorn would stop after each message and start again when the application takes it, which costs two changes
    of the selector a message and a sixth of the rate of small messages. It answers only the latest pings of a client
    that does not read; uvicorn would keep the answers to all of them.
    """

    abort_timer: TimerHandle | None = None
    pending_pongs = b""
    frames_left = float(FRAMES_BURST)
    frames_counted_at = 0.0

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + PIECE_BYTES])

    def handle_cont(self, event: Frame) -> None:
        # An empty part only adds an entry to a list that is not emptied before the end of the message.
        if self._may_send_frame() and (event.data or event.fin):
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        # The application counts the messages that it takes, but not those that wait, or that arrive after the close.
        waiting = self.queue.qsize()
        is_late = self.close_sent or waiting >= MESSAGES_WAITING
        if not self.close_sent:
            # uvicorn stops reading unless it believes that it has. `receive` starts it again.
            self.read_paused = waiting + 1 < MESSAGES_READ_AHEAD
        if not is_late or self._may_send_frame():
            super().send_receive_event_to_app()

    def handle_pong(self, event: Frame) -> None:
        if self._may_send_frame():
            super().handle_pong(event)

    def handle_ping(self) -> None:
        if not self._may_send_frame():
            return
        # The first ping of a piece finds the answers to all of them; the others find none.
        pongs = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pongs)
        else:
            self.pending_pongs = pongs or self.pending_pongs

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.pending_pongs and not self.close_sent:
            self.transport.write(self.pending_pongs)
        self.pending_pongs = b""

    def _may_send_frame(self) -> bool:
        """Counts a frame against FRAMES_BURST and FRAMES_PER_SECOND. Beyond them the socket is closed."""
        now = self.loop.time()
        earned = (now - self.frames_counted_at) * FRAMES_PER_SECOND
        self.frames_counted_at = now
        self.frames_left = min(FRAMES_BURST, self.frames_left + earned) - 1
        if self.frames_left >= 0:
            return True
        if self.close_sent:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CLOSE_FLOODING, "reason": "flooding"})
            # A close frame at the end of the flood has been answered already.
            if self.conn.state is State.OPEN:
                self.conn.send_close(CLOSE_FLOODING, "flooding")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()
            self.abort_timer = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
        return False

    def shutdown(self) -> None:
        if self.close_sent or not self.handshake_complete:
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CLOSE_RESTART, "reason": "restart"})
        goaway = {"type": "goaway", "data": {"retry_ms": random.randint(500, 5000)}}
        self.conn.send_text(json.dumps(goaway, separators=(",", ":")).encode())
        self.conn.send_close(CLOSE_RESTART, "restart")
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        # Read until the client answers, because unread bytes would turn the close into a reset, which the client sees
        # as a failure.
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(CLOSE_SECONDS, self.transport.close)

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and self.conn.close_sent is not None and self.conn.close_sent.code == CLOSE_RESTART:
            raise ClientDisconnected
        if message["type"] == "websocket.close" and not self.writable.is_set():
            self.writable.set()
            self.abort_timer = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            # uvicorn sets this for every other answer to a handshake. Without it a refusal is logged as an error.
            self.handshake_complete = True

    def connection_lost(self, exc: Exception | None) -> None:
        if self.abort_timer is not None:
            self.abort_timer.cancel()
        super().connection_lost(exc)


class ImmediateReplyProtocol(H11Protocol):
    """Closes a connection if its request line and headers do not arrive in time, or after a request whose end is not
    certain."""

    header_timer: TimerHandle | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn._receive_buffer = StrictLines()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # A body would be parsed as frames.
        if any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers):
            self.send_400_response("")
        else:
            super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Sends the error envelope and closes the connection."""
        request_id = uuid.uuid4().hex
        body = {
            "ok": False,
            "error": "parse_error",
            "message": "The request could not be read.",
            "request_id": request_id,
        }
        content = json.dumps(body).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
            ("X-Request-Id", request_id),
            ("Connection", "close"),
        ]
        with suppress(h11.LocalProtocolError):  # the reply has begun
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=content), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE and self.transport.get_protocol() is self
        if not is_waiting:
            self._stop_watching()
        elif self.header_timer is None:
            self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_headers(self) -> None:
        self.header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_watching(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None


# Exit code 0 and close code 4503: docs/decisions/serving.md#0009
class Server(uvicorn.Server):
    """Ends with exit code 0 after a signal, because a requested stop is not a failure."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        with super().capture_signals():
            yield
            # uvicorn would raise the signal again, which would kill the process after its clean stop.
            self._captured_signals.clear()


def configuration(*, host: str, port: int, workers: int, access_log: bool) -> uvicorn.Config:
    return uvicorn.Config(
        "config.asgi:application",
        host=host,
        port=port,
        workers=workers,
        http=ImmediateReplyProtocol,
        ws=RestartingWebSocket,
        ws_per_message_deflate=False,
        ws_max_size=FRAME_BYTES,
        ws_max_queue=MESSAGES_WAITING,
        ws_ping_interval=HEARTBEAT_SECONDS,
        ws_ping_timeout=HEARTBEAT_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=15,
        # TRUSTED_PROXIES says which part of X-Forwarded-For is the client's address. uvicorn would believe any process
        # on loopback.
        proxy_headers=False,
        server_header=False,
        log_config=None,
        access_log=access_log,
        lifespan="off",
    )


def serve(*, host: str, port: int, workers: int, listener: socket.socket, access_log: bool) -> None:
    """Serve on a listening socket until SIGTERM or Ctrl-C; returns after a clean stop."""
    options = configuration(host=host, port=port, workers=workers, access_log=access_log)
    if workers > 1:
        Multiprocess(options, sockets=[listener]).run()
    else:
        Server(options).run(sockets=[listener])
