"""Events to the team's own server: how fast they leave, what a hanging target delays, and what they add to a send.

    python -m benchmarks.webhooks [--events N] [--json]

Runs on the database that DATABASE_URL names, in a database of its own beside it; on SQLite in a scratch file. One worker
process sends to receivers in another process, on the same machine.
"""

import argparse
import asyncio
import base64
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from statistics import median
from typing import Any

from benchmarks import database

database.set_up()

from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings

from accounts.services import registration
from benchmarks.report import show
from integrations.models import Event
from messaging.models import Message
from messaging.services import conversations, messages
from notifications.models import Delivery
from notifications.services.delivery import supervisor

FORK = multiprocessing.get_context("fork")
SECRET = f"whsec_{base64.b64encode(b'k' * 32).decode()}"
PAIRS = 50
ANSWER = (
    b"HTTP/1.1 200 OK\r\nDate: Fri, 27 Nov 2026 10:00:00 GMT\r\nServer: receiver\r\n"
    b"Content-Type: application/json\r\nContent-Length: 12\r\n\r\n" + b'{"ok": true}'
)
DRAIN_GOAL = 1_000
# A worker that waits for a hanging target is idle. The threads of that target may cost the others a tenth.
HANG_GOAL = 1.1
SEND_GOAL = 1.05


class Receiver(asyncio.Protocol):
    """Answers each request at once, or never when it `hangs`."""

    def __init__(self, hangs: bool) -> None:
        self._hangs = hangs
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            if not self._hangs:
                self._transport.write(ANSWER)


def _receive(ports: Any) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(lambda hangs=hangs: Receiver(hangs), "127.0.0.1", 0) for hangs in (0, 1)]
        for server in servers:
            ports.put(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(serve())


@contextmanager
def receivers() -> Iterator[tuple[str, str]]:
    """The entries in WEBHOOKS of a fast target and of one that hangs."""
    ports = FORK.Queue()
    process = FORK.Process(target=_receive, args=(ports,), daemon=True)
    process.start()
    try:
        fast, hanging = (f"{name}|http://127.0.0.1:{ports.get()}/|{SECRET}|message.*" for name in ("fast", "hanging"))
        yield fast, hanging
    finally:
        process.kill()
        process.join()


def sending_to(*entries: str) -> override_settings:
    return override_settings(INTEGRATIONS_WEBHOOKS=" ".join(entries))


class Chat:
    """Conversations with a message each, and events about these messages."""

    def __init__(self) -> None:
        self.pairs = []
        for number in range(PAIRS):
            one, other = (
                registration.create_user(
                    email=f"{side}{number}@example.com", password=None, first_name="Bench", verified=True
                )
                for side in ("one", "other")
            )
            chat, _is_new = conversations.start(starter=one, user_id=other.id)
            messages.send(sender=one, conversation_id=chat.id, body="hello")
            self.pairs.append((one, chat.id))

    def send(self, number: int) -> None:
        sender, conversation_id = self.pairs[number % PAIRS]
        messages.send(sender=sender, conversation_id=conversation_id, body=f"message {number}")

    def events(self, count: int) -> None:
        """So many committed events that have no number yet, and nothing else to deliver."""
        Delivery.objects.all().delete()
        Event.objects.all().delete()
        newest = list(Message.objects.order_by("-id")[:PAIRS])
        of_sender = dict(self.pairs_of_conversations())
        Event.objects.bulk_create(
            [
                Event(
                    type="message.created",
                    data={
                        "message_id": message.id,
                        "conversation_id": message.conversation_id,
                        "sender_id": message.sender_id,
                        "recipient_id": of_sender[message.conversation_id],
                    },
                )
                for message in (newest[number % PAIRS] for number in range(count))
            ],
            batch_size=1000,
        )
        database.settle()

    def pairs_of_conversations(self) -> Iterator[tuple[int, int]]:
        for sender, conversation_id in self.pairs:
            yield conversation_id, sender.id + 1


@contextmanager
def worker() -> Iterator[None]:
    connection.close()
    stopped = FORK.Event()
    process = FORK.Process(target=supervisor.run, args=(stopped,))
    process.start()
    try:
        yield
    finally:
        stopped.set()
        process.join()


def finished(target: str, count: int) -> None:
    """Waits until so many events have reached the target."""
    rows = Delivery.objects.filter(channel="webhook", target=target, state="sent")
    while rows.count() < count:
        time.sleep(0.02)


def drain(chat: Chat, count: int) -> tuple[float, float, float]:
    """Events a second, and the CPU seconds of the worker and of its connections in PostgreSQL."""
    chat.events(count)
    cpu = database.cpu_of_children()
    begun = time.perf_counter()
    with worker():
        finished("fast", count)
        taken = time.perf_counter() - begun
        in_database = database.cpu_seconds_of_connections()
    return count / taken, database.cpu_of_children() - cpu, in_database


def delays(chat: Chat, count: int) -> list[float]:
    """Seconds from the commit of each event to its end at the fast target."""
    chat.events(0)
    with worker():
        time.sleep(1)
        for number in range(count):
            chat.send(number)
            time.sleep(0.01)
        finished("fast", count)
        times: list[tuple[datetime, datetime]] = list(
            Delivery.objects.filter(target="fast").values_list("created_at", "finished_at")
        )
    return [(end - start).total_seconds() for start, end in times]


def seconds_of(act: Callable[[int], object], times: int) -> float:
    """CPU seconds of this thread for an act, the median of so many."""
    taken = []
    for number in range(times):
        begun = time.thread_time()
        act(number)
        taken.append(time.thread_time() - begun)
    return median(taken)


def measure_sends(chat: Chat, target: str, rounds: int) -> list[dict[str, Any]]:
    """A send without targets, with one that wants no messages, and with one that wants them; in turns."""
    cases = {"none": "", "other types": target.replace("message.*", "report.*"), "messages": target}
    statements: dict[str, int] = {}
    taken: dict[str, list[float]] = {case: [] for case in cases}
    for round_ in range(rounds + 1):
        for case, setting in cases.items():
            # Without the thread that wakes workers, whose CPU is not a send's.
            with sending_to(setting), override_settings(NOTIFICATIONS_NOTIFY=False):
                seconds = seconds_of(chat.send, 20)
                with CaptureQueriesContext(connection) as captured:
                    chat.send(round_)
            if round_:
                taken[case].append(seconds)
            statements[case] = len(captured)
    ratios = {case: median(one / none for one, none in zip(taken[case], taken["none"], strict=True)) for case in cases}
    return [
        {"work": "Webhooks: CPU of a send with a target of other types beside none", "measured": round(ratios["other types"], 2), "goal": SEND_GOAL},
        {"work": "Webhooks: statements that a target of other types adds to a send", "measured": statements["other types"] - statements["none"], "goal": 0},
        {"work": "Webhooks: statements that a target adds to a send", "measured": statements["messages"] - statements["none"], "goal": 1},
        {"work": "Webhooks: CPU of a send with a target beside none", "measured": round(ratios["messages"], 2), "goal": None},
    ]  # fmt: skip


def measure(events: int, rounds: int) -> list[dict[str, Any]]:
    chat = Chat()
    with receivers() as (fast, hanging):
        alone, beside = [], []
        for _ in range(rounds):
            with sending_to(fast):
                alone.append(drain(chat, events))
            with sending_to(fast, hanging):
                beside.append(drain(chat, events)[0])
        rate, cpu, in_database = (median(values) for values in zip(*alone, strict=True))
        slower = median(one / both for (one, *_), both in zip(alone, beside, strict=True))
        with sending_to(fast):
            calm = median(delays(chat, 200))
        with sending_to(fast, hanging):
            waited = median(delays(chat, 200))
        sends = measure_sends(chat, fast, rounds * 10)
    return [
        {"work": "Webhooks: events/s by one worker to a fast target", "measured": round(rate), "goal": DRAIN_GOAL, "at_least": True},
        {"work": "Webhooks: CPU of the worker for an event, µs", "measured": round(cpu / events * 1e6), "goal": None},
        {"work": "Webhooks: CPU of PostgreSQL for an event, µs", "measured": round(in_database / events * 1e6), "goal": None},
        {"work": "Webhooks: time to drain beside a hanging target / alone", "measured": round(slower, 2), "goal": HANG_GOAL},
        {"work": "Webhooks: commit to answer, median ms", "measured": round(calm * 1000), "goal": None},
        {"work": "Webhooks: the same beside a hanging target, ms", "measured": round(waited * 1000), "goal": None},
        *sends,
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with database.scratch_database():
        rows = measure(options.events, options.rounds)
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
