"""A local receiver of events. It verifies each as Standard Webhooks describes it, and sends the configured answers."""

import base64
import hmac
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOLERANCE_SECONDS = 300
MAX_BODY = 1_000_000


@dataclass
class Received:
    id: str
    attempt: int
    is_genuine: bool
    status: int
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Receiver:
    keys: Sequence[bytes]
    # The status of each answer in turn; the last one is repeated. 0 closes the connection without an answer.
    statuses: list[int] = field(default_factory=lambda: [200])
    delay: float = 0.0
    on_event: Callable[[Received], object] = lambda event: None
    now: Callable[[], float] = time.time
    received: list[Received] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_genuine(self, headers: dict[str, str], body: bytes) -> bool:
        """Whether one of our keys has signed this recently."""
        message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not timestamp.isdecimal() or abs(self.now() - int(timestamp)) > TOLERANCE_SECONDS:
            return False
        signed = f"{message_id}.{timestamp}.".encode() + body
        expected = {f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}" for key in self.keys}
        given = headers.get("webhook-signature", "").split()
        return any(hmac.compare_digest(one, other) for one in expected for other in given)

    def receive(self, headers: dict[str, str], body: bytes) -> int:
        """Keeps the event. Returns the status of the answer, 401 for a wrong signature."""
        is_genuine = self.is_genuine(headers, body)
        with self._lock:
            status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
            status = status if is_genuine else 401
            attempt = int(headers.get("webhook-attempt", "0"))
            event = Received(headers.get("webhook-id", ""), attempt, is_genuine, status, json.loads(body), headers)
            self.received.append(event)
        self.on_event(event)
        return status


class ReceiverServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        super().__init__(address, _Handler)
        self.receiver = receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that goes away is nothing to report."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ReceiverServer
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), MAX_BODY))
        receiver = self.server.receiver
        time.sleep(receiver.delay)
        status = receiver.receive({name.lower(): value for name, value in self.headers.items()}, body)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, because the command shows each event."""
