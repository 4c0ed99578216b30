"""Events as webhooks: signed as Standard Webhooks describes it, sent by the delivery worker, a worker for each target."""

import base64
import hmac
import http.client
import io
import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlsplit

from django.utils import timezone

from accounts.services import audit
from core.database.transactions import unit_of_work
from core.times import json_time
from integrations import rendering
from integrations.conf import conf
from integrations.kinds import TEST
from integrations.models import Event, WebhookTarget
from integrations.services import event_log
from integrations.targets import Target, targets
from notifications.channels import Outcome, RateLimited, Retry, Sent, TargetGone, Unavailable
from notifications.conf import conf as delivery_conf
from notifications.selectors import webhook_lags, webhook_pauses
from notifications.services import delivery
from notifications.services.delivery import DeliveryHandler, Job

if TYPE_CHECKING:
    from accounts.models import User

log = logging.getLogger(__name__)

GONE = 410
# A target can delay an event at most by the longest wait between two attempts.
LONGEST_WAIT = 24 * 3600


class Message(NamedTuple):
    """An event as it is sent."""

    id: str
    body: bytes
    attempt: int


def message_of(event: Event, data: dict[str, Any], attempt: int) -> Message:
    body = {"type": event.type, "timestamp": json_time(event.created_at), "data": data}
    return Message(event.webhook_id, json.dumps(body, ensure_ascii=False, default=str).encode(), attempt)


def signature(message: Message, keys: Sequence[bytes], timestamp: int) -> str:
    """One `v1,` signature for each key, the newest first."""
    signed = f"{message.id}.{timestamp}.".encode() + message.body
    return " ".join(f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}" for key in keys)


class WebhookHandler(DeliveryHandler):
    """Sends to one target. Each thread of the pool keeps its connection while it has something to send."""

    def __init__(self, target: Target) -> None:
        self.target = target.name
        self._target = target
        self._own = threading.local()
        self._is_known = False

    @property
    def retries(self) -> tuple[int, tuple[float, ...], float]:
        waits = delivery_conf.WEBHOOK_RETRY_SECONDS
        return len(waits) + 1, waits, delivery_conf.WEBHOOK_RETRY_JITTER

    def refill(self) -> None:
        """Numbers new events."""
        if not self._is_known:
            WebhookTarget.objects.get_or_create(name=self.target)
            self._is_known = True
        event_log.give_numbers()

    def prepare(self, rows: Sequence[Any]) -> list[Any]:
        events = Event.objects.in_bulk({row.payload.get("event") for row in rows} - {None})
        is_off = WebhookTarget.objects.filter(name=self.target).exclude(switched_off_at=None).exists()
        found = [row for row in rows if row.payload.get("event") in events and not is_off]
        data = rendering.render([events[row.payload["event"]] for row in found], with_text=self._target.with_text)
        jobs = {
            row.id: Job(row, message_of(events[row.payload["event"]], rendered, row.tries), dict(row.payload))
            for row, rendered in zip(found, data, strict=True)
        }
        why = "the target is switched off" if is_off else "the event is no longer kept"
        return [jobs.get(row.id) or row.result("cancelled", why, payload=row.payload) for row in rows]

    def send(self, job: Job) -> Outcome:
        started = time.monotonic()
        try:
            status, retry_after = self._post(job.message)
        except TimeoutError:
            self.idle()
            return Retry(f"no answer within {conf.WEBHOOK_TIMEOUT_SECONDS:g} s")
        except (OSError, http.client.HTTPException) as error:
            self.idle()
            return _problem(error)
        job.sent_payload |= {"status": status, "ms": round((time.monotonic() - started) * 1000)}
        return _outcome(status, retry_after)

    def recorded(self, job: Job, outcome: Outcome) -> None:
        if isinstance(outcome, TargetGone):
            _switch_off(self.target, outcome.error)

    def idle(self) -> None:
        connection = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            connection.close()

    def _post(self, message: Message) -> tuple[int, str]:
        """Status and Retry-After of the answer. TimeoutError, OSError, HTTPException."""
        timestamp = int(timezone.now().timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "webhooks/1.0",
            "webhook-id": message.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(message, self._target.keys, timestamp),
            "webhook-attempt": str(message.attempt),
        }
        is_kept = getattr(self._own, "connection", None) is not None
        try:
            return self._exchange(message.body, headers)
        except (ConnectionError, http.client.RemoteDisconnected, http.client.BadStatusLine):
            # The other side may have closed a kept connection; only a failure of a new one counts.
            self.idle()
            if not is_kept:
                raise
            return self._exchange(message.body, headers)

    def _exchange(self, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        if getattr(self._own, "connection", None) is None:
            self._own.connection = _Connection(self._target.url)
        connection: _Connection = self._own.connection
        response = connection.post(body, headers, time.monotonic() + conf.WEBHOOK_TIMEOUT_SECONDS)
        left = response.read(conf.WEBHOOK_REPLY_BYTES + 1)
        if len(left) > conf.WEBHOOK_REPLY_BYTES or response.will_close:
            self.idle()
        return response.status, response.headers.get("Retry-After", "")


class _Connection:
    """A kept connection whose whole exchange, however slowly bytes arrive, ends at a deadline.

    A request leaves in one piece. http.client would send head and body one after the other, two packets for each event.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._first_lines = f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept-Encoding: identity\r\n"
        self._is_secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (443 if self._is_secure else 80)
        self._sock: _TimedSocket | None = None

    def post(self, body: bytes, headers: dict[str, str], deadline: float) -> http.client.HTTPResponse:
        """Sends the request; the answer, of which the body is to be read. TimeoutError, OSError, HTTPException."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{self._first_lines}{lines}Content-Length: {len(body)}\r\n\r\n"
        if self._sock is None:
            self._sock = self._connected(deadline)
        self._sock.deadline = deadline
        self._sock.sendall(head.encode() + body)
        response = http.client.HTTPResponse(cast(socket.socket, self._sock), method="POST")
        response.begin()
        return response

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def _connected(self, deadline: float) -> "_TimedSocket":
        plain = socket.create_connection((self._host, self._port), max(deadline - time.monotonic(), 0.001))
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.settimeout(max(deadline - time.monotonic(), 0.001))
            used = _tls().wrap_socket(plain, server_hostname=self._host) if self._is_secure else plain
        except BaseException:
            plain.close()
            raise
        return _TimedSocket(used, deadline)


class _TimedSocket:
    """The parts of a socket that http.client uses. Each wait ends at the deadline at the latest."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self.deadline = deadline

    def _limit(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)

    def sendall(self, data: Any) -> None:
        self._limit()
        self._sock.sendall(data)

    def recv_into(self, buffer: Any) -> int:
        self._limit()
        return self._sock.recv_into(buffer)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self))

    def close(self) -> None:
        self._sock.close()


class _Reader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket) -> None:
        self._timed = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.recv_into(buffer)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _problem(error: Exception) -> Outcome:
    """The error for a target that cannot be reached, or does not reply in HTTP. It names no address, which may hold a secret."""
    if isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError) or not isinstance(
        error, ConnectionError | http.client.HTTPException
    ):
        return Unavailable(f"the target cannot be reached ({type(error).__name__})")
    return Retry(f"the connection broke ({type(error).__name__})")


def _outcome(status: int, retry_after: str) -> Outcome:
    if 200 <= status < 300:
        return Sent(str(status))
    if status == GONE:
        return TargetGone("the target answers 410")
    if 300 <= status < 400:
        return Retry(f"the target answers {status}; redirects are not followed")
    text = f"the target answers {status}"
    if status in (429, 503) and retry_after.isascii() and retry_after.isdecimal() and len(retry_after) < 7:
        return RateLimited(text, after=min(float(retry_after), LONGEST_WAIT))
    return Retry(text)


# --- The state of the targets -----------------------------------------------------------------------------


def handlers() -> list[WebhookHandler]:
    """One for each configured target."""
    return [WebhookHandler(target) for target in targets()]


def _switch_off(name: str, reason: str) -> None:
    with unit_of_work():
        target, _is_new = WebhookTarget.objects.get_or_create(name=name)
        if target.switched_off_at is not None:
            return
        target.switched_off_at, target.reason = timezone.now(), reason[:300]
        target.save(update_fields=["switched_off_at", "reason"])
        cancelled = delivery.cancel_webhooks(target=name, reason="the target is switched off")
        audit.record(action="webhook.switched_off", target_label=name, reason=reason, cancelled=cancelled)
    log.error(
        "The webhook target %s is switched off: %s. Until `manage.py enable_webhook %s` its events are read only.",
        name,
        reason,
        name,
    )


def enable(*, name: str, actor: "User | str") -> bool:
    """Sends events to the target again, beginning with the next one. False when it was not switched off."""
    with unit_of_work():
        # Earlier events get their numbers, so that they are not sent now.
        while event_log.give_numbers():
            pass
        changed = WebhookTarget.objects.filter(name=name).exclude(switched_off_at=None)
        if not changed.update(switched_off_at=None, reason=""):
            return False
        audit.record(action="webhook.enabled", actor=actor, target_label=name)
    return True


def send_test(*, name: str, actor: "User | str") -> Event:
    """Writes an event of the type `test` and queues it for this target alone."""
    with unit_of_work():
        while event_log.give_numbers():
            pass
        event = Event.objects.create(type=TEST, data={"target": name})
        number = event_log.give_number(event)
        delivery.enqueue_webhooks([(event.id, TEST, number, name)])
        audit.record(action="webhook.tested", actor=actor, target_label=name)
    return event


def problems(*, late_seconds: float) -> list[str]:
    """A sentence for each configured target that gets no events at the moment."""
    if not targets():
        return []
    off = dict(WebhookTarget.objects.exclude(switched_off_at=None).values_list("name", "reason"))
    paused, lags = webhook_pauses(), webhook_lags()
    found = []
    for target in targets():
        if target.name in off:
            found.append(
                f"The webhook target {target.name} is switched off ({off[target.name]}): manage.py enable_webhook {target.name}"
            )
        elif target.name in paused and lags.get(target.name, 0) > late_seconds:
            found.append(f"The webhook target {target.name} is paused: {paused[target.name]}.")
        elif lags.get(target.name, 0) > late_seconds:
            found.append(f"The webhook target {target.name} is {lags[target.name]:.0f} s behind.")
    return found


def figures() -> dict[str, dict[str, float]]:
    """For each configured target: how old its oldest due event is in seconds, and 1 or 0 for paused and switched off."""
    if not targets():
        return {}
    off = set(WebhookTarget.objects.exclude(switched_off_at=None).values_list("name", flat=True))
    paused, lags = webhook_pauses(), webhook_lags()
    return {
        target.name: {
            "lag_seconds": lags.get(target.name, 0.0),
            "paused": float(target.name in paused),
            "switched_off": float(target.name in off),
        }
        for target in targets()
    }
