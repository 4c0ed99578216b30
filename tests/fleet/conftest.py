"""One fleet for all of its tests: starting it costs more than most of them."""

import logging
import os
import shutil

import pytest
from aiosmtpd.controller import Controller

from tests.fleet import services
from tests.fleet.load import Load
from tests.fleet.server_fixtures import Fleet
from tests.flows.conftest import MailSink
from tests.flows.people import Person
from tests.server import ON_POSTGRES, free_port

# A line for every request and every mail says nothing here.
for noisy in ("httpx", "mail.log"):
    logging.getLogger(noisy).setLevel(logging.WARNING)

PAIRS = (("Ann", "Ben"), ("Cleo", "Dan"), ("Eva", "Finn"))


@pytest.fixture(scope="session")
def mails():
    sink = MailSink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    sink.url = f"smtp://127.0.0.1:{controller.port}"
    yield sink
    controller.stop()


@pytest.fixture(scope="session")
def fleet(mails):
    if not ON_POSTGRES:
        pytest.skip("the fleet has a PostgreSQL and a Redis of its own: once is enough, in the run on PostgreSQL")
    if lacking := services.missing():
        pytest.skip(f"no {', '.join(lacking)}")
    started = Fleet(mails.url)
    try:
        started.start()
        yield started
    finally:
        if target := os.environ.get("FLEET_LOGS"):
            for name in ("logs", "nginx"):
                shutil.copytree(started.folder / name, f"{target}/{name}", dirs_exist_ok=True)
        started.close()


@pytest.fixture(scope="session")
def load(fleet, mails):
    """Three pairs of users with a conversation each; all listen, none writes yet."""
    pairs = []
    for names in PAIRS:
        first, second = (Person(fleet, name) for name in names)
        for person in (first, second):
            person.sign_up(mails)
        data = {"user_id": second.id}
        conversation = first.call("POST", "/messages/conversations", data, status=201)["conversation"]
        pairs.append((first, second, conversation["id"]))
    load = Load(pairs)
    load.listen()
    yield load
    load.stop_listening()
    for first, second, _ in pairs:
        first.close()
        second.close()


@pytest.fixture
def books(load):
    """After every test: nothing lost, nothing doubled, everything heard."""
    for listener in load.listeners:
        listener.closes.clear()
        listener.problems.clear()
    yield load
    load.hammers = []
    load.wait_until_synced()
    load.balance()
