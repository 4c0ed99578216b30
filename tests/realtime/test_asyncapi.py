"""The document describes what is there: no frame without a schema, no schema without a frame."""

import json
import os
import subprocess
import sys

import pytest

from realtime import socket_commands, socket_events
from realtime.asyncapi import document
from realtime.socket_commands import OWN_COMMANDS
from realtime.socket_events import EPHEMERAL
from tests.factories import sign_in
from tests.realtime.asyncapi import hold, validator
from tests.server import ROOT


def refs(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from refs(inner)


def test_it_is_public(anonymous):
    response = anonymous.raw("GET", "/api/v1/realtime/schema")
    assert response.status_code == 200
    shown = json.loads(response.content)
    assert shown["asyncapi"] == "3.0.0"
    assert shown.pop("servers") == {"here": {"host": "testserver", "protocol": "ws"}}
    assert shown == document()


def test_every_reference_leads_somewhere():
    names = set(refs(document()))
    assert names
    for ref in names:
        schema = document()
        for step in ref.removeprefix("#/").split("/"):
            schema = schema[step]


def test_every_event_of_the_log_has_its_schema():
    messages = document()["components"]["messages"]
    durable = {name for name, message in messages.items() if "seq" in message["payload"].get("properties", {})}
    assert durable == set(socket_events.EVENTS)


def test_every_command_and_event_of_the_law_is_there():
    messages = document()["components"]["messages"]
    commands = {name.removeprefix("command.") for name in messages if name.startswith("command.")}
    assert commands == set(socket_commands.COMMANDS) | set(OWN_COMMANDS)
    assert commands == {
        *("auth", "resume", "ack", "ping", "typing", "presence.watch", "conversation.read"),
        *(f"message.{verb}" for verb in ("send", "edit", "delete", "react", "unreact")),
        *(
            f"call.{verb}"
            for verb in ("invite", "ringing", "accept", "decline", "cancel", "signal", "connected", "hangup")
        ),
    }
    assert set(document()["operations"]) == {
        *(f"receive.{name}" for name in commands),
        *(f"send.{name}" for name in (*socket_events.EVENTS, *EPHEMERAL)),
    }


@pytest.mark.parametrize("command", sorted(OWN_COMMANDS))
def test_the_sockets_own_commands_are_understood(command, open_socket, alice):
    token = sign_in(alice)[1]
    client = open_socket(token)
    client.send(
        command, {"auth": {"token": token}, "resume": {"epoch": "x", "seq": 0}, "ack": {"seq": 0}}.get(command, {}), "r"
    )
    wrong = [frame for frame in client.silence(0.5) if frame["type"] == "reply" and not frame["ok"]]
    assert wrong == []


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "pong", "data": {"seq": "1"}},
        {"type": "pong", "data": {"seq": 1, "more": 2}},
        {"type": "pong", "data": {}},
        {"type": "pong", "data": {"seq": 1}, "extra": True},
        {"type": "gossip", "data": {}},
        {"type": "block.changed", "seq": 1, "at": "yesterday", "data": {"user_id": 1, "blocked": True}},
        {"type": "block.changed", "data": {"user_id": 1, "blocked": True}},
        {"type": "reply", "ref": "1", "ok": False, "error": "x"},
        {"type": "reply", "ref": "1", "ok": True, "data": {"call": {}}},
    ],
)
def test_what_is_not_documented_is_noticed(frame):
    with pytest.raises(AssertionError):
        hold(frame, "call.accept")


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(document()["components"]["messages"]))
def test_every_message_is_explained_and_has_an_example_of_its_schema(name):
    message = document()["components"]["messages"][name]
    assert message["summary"].endswith(".")
    frame = message["examples"][0]["payload"]
    assert [error.message for error in validator(name).iter_errors(frame)] == []


def test_every_close_code_is_listed():
    codes = {row["code"] for row in document()["channels"]["realtime"]["x-close-codes"]}
    assert codes == {4400, 4401, 4403, 4408, 4409, 4429, 4503}
    assert all(row["meaning"] and row["remedy"] for row in document()["channels"]["realtime"]["x-close-codes"])


BUILD_AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import django
django.setup()
from realtime import asyncapi
together = Barrier(6)
def build(_):
    together.wait()
    return asyncapi.document()
with ThreadPoolExecutor(6) as pool:
    documents = list(pool.map(build, range(6)))
assert all(document is documents[0] for document in documents)
"""


def test_requests_that_want_it_first_at_the_same_time_get_it():
    """As the search of the documentation does when someone types into it right after the start of the server."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-W", "ignore", "-c", BUILD_AT_ONCE]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
