"""Half an hour of people talking: memory stays where it is, nothing fails. `SOAK_MINUTES` sets how long."""

import os
import time
from pathlib import Path

import pytest

from tests.faults.conftest import FULL
from tests.faults.ledger import Writers

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
# At most ten sockets a person; thirty messages a second.
SOCKETS, WRITERS = 200, 30


def resident_kilobytes(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


@pytest.mark.skipif(not FULL, reason="half an hour: FULL=1")
@pytest.mark.timeout(MINUTES * 60 + 600)
def test_a_long_talk_costs_no_memory(server, settle):
    server.start()
    books = settle(server, 15)
    people = [person for pair in books.pairs for person in (pair.first, pair.second)]
    sockets = [people[number % len(people)].socket() for number in range(SOCKETS)]
    start = time.monotonic()
    try:
        with Writers(books, WRITERS, pause=1.0):
            # Caches and pools fill in the first tenth.
            listen(sockets, start + MINUTES * 6)
            before = resident_kilobytes(server.process)
            listen(sockets, start + MINUTES * 60)
            after = resident_kilobytes(server.process)
    finally:
        for socket in sockets:
            socket.close()
    assert "Traceback" not in server.log.read_text(errors="replace")
    books.balance()
    assert after <= 1.1 * before, f"{before} kB → {after} kB"


def listen(sockets, until):
    """Every second each socket reads what came, and acknowledges it or says that it is there."""
    while time.monotonic() < until:
        for socket in sockets:
            last = 0
            try:
                while True:
                    last = max(last, socket.receive(0.001).get("seq", 0))
            except TimeoutError:
                socket.send("ack", {"seq": last}) if last else socket.send("ping", {})
            socket.events.clear()
        time.sleep(1)
