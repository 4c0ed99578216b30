"""The example that the documentation hands out is run here, through a lost connection and a restart of its own."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from accounts.sign_in import sessions
from messaging.services import messages
from realtime import wakeups
from realtime.models import Socket
from tests.factories import sign_in
from tests.realtime.phones import conversation_of
from tests.waiting import wait_for

CLIENT = Path(__file__).resolve().parents[2] / "docs" / "examples" / "socket_client.py"


class RunningClient:
    def __init__(self, url, token, state):
        self.state = state
        command = [sys.executable, str(CLIENT), url, "--token", token, "--state", str(state)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.frames = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.frames.append(json.loads(line))

    def output(self):
        return [f["data"]["message"]["body"] for f in self.frames if f["type"] == "message.new"]

    def stop(self):
        self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def run_client(live, bob, tmp_path):
    session, token = sign_in(bob)
    started = []

    def run():
        client = RunningClient(live.url, token, tmp_path / "place.json")
        started.append(client)
        return client

    run.session = session
    yield run
    for client in started:
        client.stop()


def test_it_misses_nothing_and_prints_nothing_twice(run_client, alice, bob):
    chat = conversation_of(alice, bob)

    def send_message(body):
        messages.send(sender=alice, conversation_id=chat, body=body)

    first = run_client()
    wait_for(lambda: first.frames, what="ready")
    send_message("one")
    wait_for(lambda: first.output() == ["one"], what="the first message")

    socket = Socket.objects.get(user=bob)
    wakeups.publish([{"type": "too_many_sockets", "user_id": bob.id, "socket_ids": [socket.id]}])
    wait_for(lambda: not Socket.objects.filter(id=socket.id).exists(), what="the lost connection")
    send_message("two")
    wait_for(lambda: first.output() == ["one", "two"], what="the message sent meanwhile")
    printed = max(frame["seq"] for frame in first.frames if "seq" in frame)
    # Killed before that it would print the event again, as it says itself.
    wait_for(lambda: json.loads(first.state.read_text())["seq"] >= printed, what="the stored position")
    first.stop()

    send_message("three")
    second = run_client()
    wait_for(lambda: second.output() == ["three"], what="the message sent while it did not run")
    numbers = [frame["seq"] for frame in first.frames + second.frames if "seq" in frame]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_it_ends_when_the_sign_in_ends(run_client, bob):
    client = run_client()
    wait_for(lambda: client.frames, what="ready")
    sessions.revoke([run_client.session], reason="logout")
    assert client.process.wait(10) == 1
    assert "token_revoked" in client.process.stderr.read()
