"""A server that dies with a call ringing, connecting or active leaves none behind."""

import json
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
from websockets.sync.client import connect

from tests.flows.people import Person
from tests.server import ON_POSTGRES
from tests.waiting import wait_for

RING, CONNECT, LOST = 4, 4, 4


class Device:
    """A socket that asks and is answered."""

    def __init__(self, stack, server, person):
        url = f"ws://127.0.0.1:{server.port}/api/v1/realtime"
        headers = {"Authorization": f"Bearer {person.token}"}
        self.socket = stack.enter_context(connect(url, additional_headers=headers, compression=None))
        assert self._next("ready")
        self.refs = 0

    def _next(self, type, **matching):
        while True:
            frame = json.loads(self.socket.recv(timeout=20))
            if frame["type"] == type and all(frame.get(key) == value for key, value in matching.items()):
                return frame

    def ask(self, type, **data):
        self.refs += 1
        self.socket.send(json.dumps({"type": type, "ref": str(self.refs), "data": data}))
        reply = self._next("reply", ref=str(self.refs))
        assert reply["ok"], reply
        return reply["data"]


@pytest.fixture
def two(server, mail_sink):
    limits = {"CALL_RING_SECONDS": RING, "CALL_CONNECT_SECONDS": CONNECT, "CALL_LOST_SECONDS": LOST}
    server.environment |= {name: str(value) for name, value in limits.items()}
    server.environment["DJANGO_SETTINGS_MODULE"] = "tests.flows.sweeping_settings"
    server.start()
    ada, ben = Person(server, "Ada"), Person(server, "Ben")
    for person in (ada, ben):
        person.sign_up(mail_sink)
    yield ada, ben
    ada.close()
    ben.close()


def outcome_in_database(server, call_id):
    """Read past the service: a look through it would end the call by itself."""
    query = f"SELECT outcome FROM realtime_call WHERE id = {call_id}"
    if ON_POSTGRES:
        with psycopg.connect(server.environment["DATABASE_URL"].replace("postgres://", "postgresql://")) as database:
            return database.execute(query).fetchone()[0]
    path = Path(server.environment["VAR_DIR"]) / "parley.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchone()[0]


@pytest.mark.parametrize(("state", "outcome"), [("ringing", "missed"), ("connecting", "failed"), ("active", "lost")])
def test_a_killed_server_leaves_no_call_behind(state, outcome, server, two):
    ada, ben = two
    chat = ada.call("POST", "/messages/conversations", {"user_id": ben.id}, status=201)["conversation"]["id"]
    with ExitStack() as stack:
        caller, callee = Device(stack, server, ada), Device(stack, server, ben)
        call_id = caller.ask("call.invite", conversation_id=chat, media="audio", client_id="one")["call"]["id"]
        if state != "ringing":
            callee.ask("call.accept", call_id=call_id)
        if state == "active":
            caller.ask("call.connected", call_id=call_id)
            callee.ask("call.connected", call_id=call_id)
        server.kill()
    server.start()
    # The sockets are not touched any more; they count as closed after a time that depends on the sweep interval.
    seconds = 40 if state == "active" else RING + 6
    stored_outcome = wait_for(lambda: outcome_in_database(server, call_id), what="the end of the call", seconds=seconds)
    assert stored_outcome == outcome
    lines = ben.call("GET", f"/messages/conversations/{chat}/messages")["messages"]
    assert [line["call"]["outcome"] for line in lines] == [outcome]
    assert ada.call("GET", "/calls")["calls"][0]["state"] == "ended"
