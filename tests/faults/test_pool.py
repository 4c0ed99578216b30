"""Every thread and every connection hangs: new requests get 503, and health checks still work."""

import contextlib
import http.client
import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from tests.faults.ledger import Writers
from tests.server import ON_POSTGRES

SLOW, THREADS = 300, 16

pytestmark = pytest.mark.timeout(120)


@contextlib.contextmanager
def no_process_writes(server):
    """While the block runs, another transaction holds the lock that every message needs."""
    if ON_POSTGRES:
        with psycopg.connect(server.environment["DATABASE_URL"].replace("postgres://", "postgresql://")) as other:
            other.execute("SELECT 1 FROM messaging_conversation FOR UPDATE")
            yield
    else:
        other = sqlite3.connect(f"{server.environment['VAR_DIR']}/parley.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.close()


def test_hundreds_of_slow_requests(server, settle):
    server.start()
    books = settle(server, 1)
    pair = books.pairs[0]
    path = f"/api/v1/messages/conversations/{pair.conversation_id}/messages"
    headers = {"Authorization": f"Bearer {pair.first.token}", "Content-Type": "application/json"}
    gate = threading.Barrier(SLOW + 1)

    def send(number):
        # The plainest client there is: three hundred of them must not keep each other waiting.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        data = json.dumps({"body": f"slow {number}", "client_id": f"slow-{number}"})
        gate.wait(30)
        begun = time.monotonic()
        connection.request("POST", path, data, headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        connection.close()
        return answer, body, time.monotonic() - begun

    with ThreadPoolExecutor(SLOW) as pool:
        requests = [pool.submit(send, number) for number in range(SLOW)]
        looks, answered = [], 0
        with no_process_writes(server):
            gate.wait(30)
            time.sleep(0.5)
            while answered < SLOW - THREADS:
                begun = time.monotonic()
                for question in ("healthz", "readyz"):
                    assert httpx.get(f"{server.base}/{question}", timeout=20).status_code == 200
                answered = sum(request.done() for request in requests)
                looks.append((time.monotonic() - begun, answered))
                time.sleep(0.1)
        # At once all is well again.
        pair.first.call("GET", "/notifications/unread-count")
        answers = [request.result() for request in requests]

    # Health checks were answered while other requests still waited.
    assert looks[0][1] == 0
    inside = 0
    for answer, body, _ in answers:
        if answer.status == 201:
            inside += 1
            books.tried.add(body["message"]["body"])
            books.acknowledged.append((pair, body["message"]["body"], body["message"]))
            continue
        assert answer.status == 503, body
        assert (body["ok"], body["error"]) == (False, "service_unavailable")
        assert answer.headers["Retry-After"] == str(body["retry_after"])
        assert body["request_id"] == answer.headers["X-Request-Id"]
    # Requests with a thread had a connection; the others were refused before they reached the database.
    log = server.log.read_text(errors="replace")
    assert "PoolTimeout" not in log
    inside += log.count("database unavailable: ")
    assert THREADS <= inside < SLOW / 2
    waits = sorted(wait for _, _, wait in answers)
    print(
        f"two looks at health: {max(seconds for seconds, _ in looks):.2f} s at most; {SLOW - inside} refused before a thread;"
        f" answers: first {waits[0]:.1f} s, median {waits[SLOW // 2]:.1f} s, last {waits[-1]:.1f} s"
    )
    # What was refused was not done, what is sent again is done once.
    with Writers(books, 4):
        time.sleep(1)
    assert len(books.acknowledged) > 4
    books.balance()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no pool")
def test_a_small_pool_is_the_requests_own(server, settle):
    """Delivery, sockets and health hold connections for long, and take none from those who ask."""
    server.environment["DATABASE_POOL_SIZE"] = "2"
    server.start()
    books = settle(server, 3)
    people = [person for pair in books.pairs for person in (pair.first, pair.second)]
    sockets = [person.socket() for person in people]
    try:
        with ThreadPoolExecutor(len(people)) as pool:
            list(pool.map(ask_often, people))
    finally:
        for socket in sockets:
            socket.close()
    assert "PoolTimeout" not in server.log.read_text(errors="replace")


def ask_often(person):
    for _ in range(20):
        person.call("GET", "/auth/me")
        person.call("POST", "/auth/resend-otp", {"email": person.email})
