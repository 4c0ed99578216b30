"""Every thread and every connection hangs: whoever comes is told to come back, and watching goes on."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from tests.faults.books import Writers
from tests.server import ON_POSTGRES

SLOW = 300


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has neither a pool nor a lock that a test could hold for so long")
@pytest.mark.timeout(120)
def test_hundreds_of_slow_requests(server, settle):
    server.start()
    books = settle(server, 1)
    pair = books.pairs[0]
    url = server.environment["DATABASE_URL"].replace("postgres://", "postgresql://")
    path = f"{server.base}/api/v1/messages/conversations/{pair.conversation_id}/messages"
    limits = httpx.Limits(max_connections=SLOW)
    headers = {"Authorization": f"Bearer {pair.first.token}"}
    gate = threading.Barrier(SLOW + 1)

    with httpx.Client(timeout=60, limits=limits, headers=headers) as client, ThreadPoolExecutor(SLOW) as pool:

        def send(number):
            data = {"body": f"slow {number}", "client_id": f"slow-{number}"}
            gate.wait(30)
            begun = time.monotonic()
            return client.post(path, json=data), time.monotonic() - begun

        with psycopg.connect(url) as blocker:
            blocker.execute("SELECT 1 FROM messaging_conversation FOR UPDATE")
            requests = [pool.submit(send, number) for number in range(SLOW)]
            gate.wait(30)
            time.sleep(0.5)
            looks = []
            while not all(request.done() for request in requests):
                begun = time.monotonic()
                assert httpx.get(f"{server.base}/healthz", timeout=20).status_code == 200
                looks.append(time.monotonic() - begun)
                time.sleep(0.1)
        answers = [request.result() for request in requests]
    for answer, _ in answers:
        assert answer.status_code == 503, answer.text[:300]
        body = answer.json()
        assert (body["ok"], body["error"]) == (False, "service_unavailable")
        assert answer.headers["Retry-After"] == str(body["retry_after"])
        assert body["request_id"] == answer.headers["X-Request-Id"]
    waits = sorted(wait for _, wait in answers)
    print(f"health: {max(looks):.2f} s; refusals: median {waits[SLOW // 2]:.1f} s, last {waits[-1]:.1f} s")
    # Compared with what they would wait in turn, so that a busy machine proves nothing wrong.
    assert waits[SLOW // 2] < 15 and waits[-1] < 30
    assert max(looks) < 5
    # And at once all is well again: what was refused was not done, what is sent again is done once.
    with Writers(books, 4):
        time.sleep(1)
    assert len(books.acknowledged) > 4
    books.balance()
