"""What people were told, and what is there afterwards: lost 0, doubled 0, ghosts 0, order kept, unread as recomputed."""

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx

from tests.fleet.load import all_messages
from tests.flows.people import Person


@dataclass(frozen=True)
class Pair:
    first: Person
    second: Person
    conversation_id: int


class Books:
    """Every attempted send, and every acknowledged one (a 2xx that the client has read)."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs
        self.acknowledged: list[tuple[Pair, str, dict[str, Any]]] = []
        self.tried: set[str] = set()
        self.problems: list[str] = []
        self._lock = threading.Lock()

    def send(self, pair: Pair, writer: Person, name: str, number: int) -> None:
        """One message, tried with the same client_id until it is acknowledged."""
        body = f"{name} says {number}"
        with self._lock:
            self.tried.add(body)
        message = writer.send(pair.conversation_id, body, f"{name}-{number}")
        with self._lock:
            self.acknowledged.append((pair, name, message))

    def balance(self) -> None:
        assert self.problems == []
        for pair in self.pairs:
            stored = all_messages(pair.first, pair.conversation_id)
            assert [m["id"] for m in stored] == [m["id"] for m in all_messages(pair.second, pair.conversation_id)]
            self._compare(pair, stored)
            for person in (pair.first, pair.second):
                self._counts_are_right(pair, person, stored)
                self._events_are_complete(person, stored)

    def _compare(self, pair: Pair, stored: list[dict[str, Any]]) -> None:
        there = Counter(m["body"] for m in stored)
        ids_by_body = {
            message["body"]: message["id"] for sender_pair, _, message in self.acknowledged if sender_pair is pair
        }
        assert [body for body in ids_by_body if body not in there] == [], "lost"
        assert [body for body, times in there.items() if times > 1] == [], "doubled"
        # Every writer repeats its last send until it is acknowledged, so every stored message was acknowledged.
        assert [body for body in there if body not in ids_by_body or body not in self.tried] == [], "ghosts"
        assert {m["body"]: m["id"] for m in stored} == ids_by_body, "an acknowledged id is another message"
        order: dict[str, list[int]] = {}
        for sender_pair, name, message in self.acknowledged:
            if sender_pair is pair:
                order.setdefault(name, []).append(message["id"])
        assert [name for name, ids in order.items() if ids != sorted(ids)] == [], "order"
        assert [m["id"] for m in stored] == sorted((m["id"] for m in stored), reverse=True)

    def _counts_are_right(self, pair: Pair, person: Person, stored: list[dict[str, Any]]) -> None:
        shown = person.call("GET", f"/messages/conversations/{pair.conversation_id}")["conversation"]
        seen = shown["last_read_id"] or 0
        unread = sum(m["sender_id"] != person.id and m["id"] > seen for m in stored)
        counts = person.call("GET", "/notifications/unread-count")
        assert (shown["unread_count"], counts["message_unread_count"]) == (unread, unread)
        feed = person.call("GET", "/notifications?unread=true")
        rows = [row for row in feed["notifications"] if row["type"] == "message"]
        assert feed["unread_count"] == counts["unread_count"] == len(feed["notifications"])
        assert [row["count"] for row in rows] == ([unread] if unread else [])

    def _events_are_complete(self, person: Person, stored: list[dict[str, Any]]) -> None:
        """The log of this person names every message once, in order, without a hole."""
        page = person.call("GET", "/realtime/changes")
        epoch, head, since = page["epoch"], page["seq"], 0
        events: list[dict[str, Any]] = []
        while since < head:
            page = person.call("GET", f"/realtime/changes?epoch={epoch}&since={since}")
            assert page["reset"] is False
            if not page["events"]:
                break
            events += page["events"]
            since = events[-1]["seq"]
        assert [event["seq"] for event in events] == list(range(1, head + 1))
        received = [event["data"]["message"]["id"] for event in events if event["type"] == "message.new"]
        assert received == sorted(m["id"] for m in stored)


class Writers:
    """So many threads that write until they are told to stop; every few messages they read what came."""

    def __init__(self, books: Books, number: int, *, pause: float = 0.0) -> None:
        self.books = books
        self.pause = pause
        self._stop = threading.Event()
        people = [(pair, person) for pair in books.pairs for person in (pair.first, pair.second)]
        self._threads = [
            threading.Thread(target=self._write, args=(*people[index % len(people)], f"w{index}"), daemon=True)
            for index in range(number)
        ]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(90)
        assert not any(thread.is_alive() for thread in self._threads), "a writer hangs"

    def _write(self, pair: Pair, person: Person, name: str) -> None:
        own = person.again()
        number = 0
        try:
            while not self._stop.is_set():
                self.books.send(pair, own, name, number)
                number += 1
                if number % 5 == 0:
                    read(own, pair.conversation_id)
                self._stop.wait(self.pause)
        except Exception as error:  # the balance reports it
            self.books.problems.append(f"{name}: {error!r}")
        finally:
            own.close()


def read(person: Person, conversation_id: int) -> None:
    """Marks all as read; whether that arrives does not matter to the person."""
    headers = {"Authorization": f"Bearer {person.token}"}
    try:
        answer = person.http.post(f"/messages/conversations/{conversation_id}/read", json={}, headers=headers)
        assert answer.status_code in (200, 503), answer.text[:300]
    except httpx.TransportError:
        return
