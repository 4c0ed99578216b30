"""People who write all the time and listen all the time, and the books that must balance afterwards."""

import contextlib
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from tests.fleet.processes import wait_until
from tests.flows.people import Person, Socket

PING_SECONDS = 2
# The rate of sending is 60 a minute for a person.
PAUSE_SECONDS = 1.05
ACK_EVERY = 20


@dataclass(frozen=True)
class Outcome:
    """One attempt: when it ended (monotonic), its status, 0 for a broken connection."""

    at: float
    status: int
    detail: str = ""
    took: float = 0.0


class Listener(threading.Thread):
    """A device: holds a socket, comes back where it was, keeps every durable event and every close code."""

    def __init__(self, person: Person) -> None:
        super().__init__(name=f"listener-{person.name}", daemon=True)
        self.person = person
        self.events: list[dict] = []
        self.closes: list[int] = []
        self.resyncs: list[dict] = []
        self.problems: list[str] = []
        self.position: dict | None = None
        self.synced = threading.Event()
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._one_connection()
            except ConnectionClosed as closed:
                self.closes.append(closed.rcvd.code if closed.rcvd else 1006)
            except (OSError, InvalidHandshake, TimeoutError) as error:
                self.problems.append(f"{type(error).__name__}: {error}")
            self.synced.clear()
            self._ended.wait(0.2)

    def end(self) -> None:
        self._ended.set()
        self.join(timeout=30)

    def _one_connection(self) -> None:
        address = self.person.server.base.replace("http", "ws") + "/api/v1/realtime"
        with connect(address, open_timeout=10, ssl=self.person.server.tls, compression=None) as socket:
            data = {"token": self.person.token} | ({"resume": self.position} if self.position else {})
            socket.send(json.dumps({"type": "auth", "ref": "a", "data": data}))
            pinged = time.monotonic()
            while not self._ended.is_set():
                with contextlib.suppress(TimeoutError):
                    self._receive(json.loads(socket.recv(timeout=0.2)), socket)
                if time.monotonic() - pinged > PING_SECONDS:
                    pinged = time.monotonic()
                    socket.send(json.dumps({"type": "ping", "data": {}}))

    def _receive(self, frame: dict, socket) -> None:
        kind = frame["type"]
        if kind == "ready":
            epoch = frame["data"]["epoch"]
            if self.position is None:
                self.position = {"epoch": epoch, "seq": frame["data"]["seq"]}
                self.synced.set()
        elif kind == "synced":
            self.synced.set()
        elif kind == "resync":
            self.resyncs.append(frame["data"])
            self.synced.set()
        elif kind == "reply" and not frame["ok"]:
            self.problems.append(json.dumps(frame))
        elif "seq" in frame:
            self.events.append(frame)
            assert self.position is not None
            self.position = self.position | {"seq": frame["seq"]}
            if frame["seq"] % ACK_EVERY == 0:
                socket.send(json.dumps({"type": "ack", "data": {"seq": frame["seq"]}}))


class Writer(threading.Thread):
    """Writes one message after another, each until it is acknowledged, as an app does; reads in between."""

    def __init__(self, person: Person, conversation_id: int, *, pause: float) -> None:
        super().__init__(name=f"writer-{person.name}", daemon=True)
        self.person = person
        self.conversation_id = conversation_id
        self.pause = pause
        self.acknowledged: list[dict] = []
        self.outcomes: list[Outcome] = []
        self._ended = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._ended.is_set():
            number += 1
            client_id = f"{self.name}-{id(self):x}-{number}"
            message = self._send(client_id)
            self.acknowledged.append(message)
            self._request("GET", f"/messages/conversations/{self.conversation_id}/messages?limit=20")
            self._ended.wait(self.pause)

    def end(self) -> None:
        self._ended.set()

    def _send(self, client_id: str) -> dict:
        path = f"/messages/conversations/{self.conversation_id}/messages"
        deadline = time.monotonic() + 60
        while True:
            response = self._request("POST", path, {"body": client_id, "client_id": client_id})
            if response is not None and response.status_code in (200, 201):
                return response.json()["message"]
            assert time.monotonic() < deadline, f"{client_id} was never acknowledged: {self.outcomes[-1]}"
            time.sleep(0.1)

    def _request(self, method: str, path: str, data: dict | None = None) -> httpx.Response | None:
        started = time.monotonic()
        headers = {"Authorization": f"Bearer {self.person.token}"}
        try:
            response = self.person.http.request(method, path, json=data, headers=headers)
        except httpx.TransportError as error:
            now = time.monotonic()
            self.outcomes.append(Outcome(now, 0, f"{method} {type(error).__name__}: {error}", now - started))
            return None
        now = time.monotonic()
        detail = f"{method} {path}" + ("" if response.is_success else f" {response.text[:300]}")
        self.outcomes.append(Outcome(now, response.status_code, detail, now - started))
        return response


class Hammer(Writer):
    """Posts without a pause what changes nothing: the proxy passes no POST on twice, so a lost one is seen."""

    def run(self) -> None:
        peer = {"user_id": self.conversation_id}
        while not self._ended.is_set():
            self._request("POST", "/messages/conversations", peer)


@dataclass
class Load:
    """Pairs of people in conversation. Use as a context: it writes inside the block and stops at its end."""

    pairs: list[tuple[Person, Person, int]]
    listeners: list[Listener] = field(default_factory=list)
    acknowledged: dict[int, list[dict]] = field(default_factory=dict)
    writers: list[Writer] = field(default_factory=list)
    pause: float = PAUSE_SECONDS
    hammers: list[Hammer] = field(default_factory=list)

    def hammered(self) -> "Load":
        """The next block also bears as many requests as the machine can answer."""
        self.hammers = [Hammer(first, second.id, pause=0) for first, second, _ in self.pairs]
        return self

    def __enter__(self) -> "Load":
        self.writers = [
            Writer(person, conversation_id, pause=self.pause)
            for first, second, conversation_id in self.pairs
            for person in (first, second)
        ]
        for writer in (*self.writers, *self.hammers):
            writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        threads = (*self.writers, *self.hammers)
        for writer in threads:
            writer.end()
        for writer in threads:
            writer.join(timeout=90)
        stuck = [writer.name for writer in threads if writer.is_alive()]
        for writer in self.writers:
            sent_ids = [message["id"] for message in writer.acknowledged]
            assert sent_ids == sorted(sent_ids), "a person's own messages changed their order"
            self.acknowledged.setdefault(writer.conversation_id, []).extend(writer.acknowledged)
        assert not stuck, f"never ended: {stuck}"

    def add(self, conversation_id: int, messages: list[dict]) -> None:
        """What was sent by others than the writers, who have checked their own order."""
        own = self.acknowledged.setdefault(conversation_id, [])
        own.extend(messages)
        own.sort(key=lambda message: message["id"])

    def outcomes(self) -> list[Outcome]:
        threads = (*self.writers, *self.hammers)
        return sorted((o for writer in threads for o in list(writer.outcomes)), key=lambda outcome: outcome.at)

    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes() if not 200 <= outcome.status < 300]

    def statuses(self) -> Counter:
        return Counter(outcome.status for outcome in self.outcomes())

    def listen(self) -> None:
        self.listeners = [Listener(person) for first, second, _ in self.pairs for person in (first, second)]
        for listener in self.listeners:
            listener.start()
        self.wait_until_synced()

    def wait_until_synced(self, seconds: float = 30) -> None:
        wait_until(
            lambda: all(listener.synced.is_set() for listener in self.listeners), what="all sockets", seconds=seconds
        )

    def stop_listening(self) -> None:
        for listener in self.listeners:
            listener.end()

    # --- The books -----------------------------------------------------------------------------

    def balance(self) -> None:
        """Lost 0, doubled 0, ghosts 0, order kept, unread as recomputed, events complete on every socket."""
        for first, second, conversation_id in self.pairs:
            stored = all_messages(first, conversation_id)
            acknowledged = self.acknowledged.get(conversation_id, [])
            assert Counter(m["id"] for m in stored) == Counter(m["id"] for m in acknowledged)
            assert Counter(m["body"] for m in stored) == Counter(m["body"] for m in acknowledged)
            for person, other in ((first, second), (second, first)):
                sent_ids = [m["id"] for m in acknowledged if m["sender_id"] == person.id]
                assert sent_ids == sorted(sent_ids), "a person's own messages changed their order"
                received = sum(m["sender_id"] == other.id for m in stored)
                conversation = person.call("GET", f"/messages/conversations/{conversation_id}")["conversation"]
                count = person.call("GET", "/notifications/unread-count")["message_unread_count"]
                assert (conversation["unread_count"], count) == (received, received)
        for listener in self.listeners:
            self._events_are_complete(listener)

    def _events_are_complete(self, listener: Listener) -> None:
        expected = [
            message["id"]
            for first, second, conversation_id in self.pairs
            if listener.person in (first, second)
            for message in self.acknowledged.get(conversation_id, [])
        ]
        wait_until(
            lambda: len(received_by(listener)) >= len(expected),
            what=f"{listener.name} {listener.problems[-3:]}",
            seconds=15,
        )
        assert Counter(received_by(listener)) == Counter(expected)
        numbers = [event["seq"] for event in listener.events]
        assert numbers == [numbers[0] + index for index in range(len(numbers))], "a hole or a repeat in the log"


def received_by(listener: Listener | Socket) -> list[int]:
    return [event["data"]["message"]["id"] for event in list(listener.events) if event["type"] == "message.new"]


def all_messages(person: Person, conversation_id: int) -> list[dict]:
    messages: list[dict] = []
    while True:
        before = f"&before={messages[-1]['id']}" if messages else ""
        path = f"/messages/conversations/{conversation_id}/messages?limit=100{before}"
        page = person.call("GET", path)["messages"]
        if not page:
            return messages
        messages += page
