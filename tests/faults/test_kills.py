"""kill -9 under load: what was acknowledged is there once and in order, counters are right, nothing came from nowhere."""

import time

import pytest

from tests.faults.conftest import FULL
from tests.faults.ledger import Writers

KILLS, PAIRS, WRITERS, SENDS = (20, 25, 50, 5_000) if FULL else (3, 3, 20, 100)


@pytest.mark.timeout(1500 if FULL else 120)
def test_a_killed_server_loses_and_doubles_nothing(server, settle):
    server.start()
    books = settle(server, PAIRS)
    with Writers(books, WRITERS):
        for _ in range(KILLS):
            before = len(books.acknowledged)
            wait_for_more(books, before + SENDS // (KILLS + 1))
            server.kill()
            server.start()
        wait_for_more(books, SENDS)
    assert len(books.acknowledged) >= SENDS
    books.balance()


def wait_for_more(books, number):
    deadline = time.monotonic() + 120
    while len(books.acknowledged) < number and not books.problems and time.monotonic() < deadline:
        time.sleep(0.02)
