"""People and servers of the fault tests. `FULL=1` asks for the sizes of a full run."""

import logging
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.ledger import Books, Pair
from tests.flows.conftest import mail_sink, server  # noqa: F401 (fixtures)
from tests.flows.people import Person

FULL = bool(os.environ.get("FULL"))

# A line for every request and every mail says nothing here.
for noisy in ("httpx", "mail.log"):
    logging.getLogger(noisy).setLevel(logging.WARNING)


@pytest.fixture
def settle(mail_sink):  # noqa: F811
    """settle(server, 3): so many pairs of people on it, with a conversation each, nothing written yet."""
    people = []

    def sign_up(person):
        person.sign_up(mail_sink)
        return person

    def pairs(server, number, name="Person"):  # noqa: F811
        made = [Person(server, f"{name}{index}") for index in range(2 * number)]
        people.extend(made)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(sign_up, made))
        return Books([pair(made[index], made[index + 1]) for index in range(0, len(made), 2)])

    def pair(first, second):
        body = first.call("POST", "/messages/conversations", {"user_id": second.id}, status=201)
        return Pair(first, second, body["conversation"]["id"])

    yield pairs
    for person in people:
        person.close()
