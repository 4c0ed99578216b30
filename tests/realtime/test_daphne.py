"""The application is the same under daphne, also as `runserver`: sign in, talk, be refused, be closed."""

import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.flows.conftest import mail_sink, server  # noqa: F401 (fixtures)
from tests.flows.people import Person
from tests.server import ROOT, free_port

COMMANDS = {
    "runserver": lambda port: ["manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"],
    "daphne": lambda port: ["-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "config.asgi:application"],
}


@contextmanager
def started(name, stopped):
    """The port of daphne, with the database of a server that has stopped."""
    port = free_port()
    with stopped.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *COMMANDS[name](port)],
            cwd=ROOT, env=stopped.environment, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        stopped.base = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                assert httpx.get(f"{stopped.base}/healthz", timeout=5).headers["Server"] == "daphne"
                break
            except httpx.TransportError:
                assert process.poll() is None and time.monotonic() < deadline, stopped.output()
                time.sleep(0.2)
        yield port
    finally:
        process.kill()
        process.wait(20)


@pytest.mark.timeout(300)
def test_the_socket_works_under_daphne(server, mail_sink):  # noqa: F811
    server.start()
    ann, ben = Person(server, "Ann"), Person(server, "Ben")
    ann.sign_up(mail_sink)
    ben.sign_up(mail_sink)
    conversation_id = ann.call("POST", "/messages/conversations", {"user_id": ben.id}, status=201)["conversation"]["id"]
    assert server.stop() == 0

    def talk():
        """Two open sockets, after a message from one to the other."""
        socket, speaker = ben.socket(), ann.socket()
        speaker.send("message.send", {"conversation_id": conversation_id, "body": "hi"}, ref="1")
        assert speaker.wait_for("reply", ref="1")["ok"] is True
        assert socket.wait_for("message.new")["data"]["message"]["body"] == "hi"
        return socket, speaker

    try:
        with started("runserver", server):
            for socket in talk():
                socket.close()
        with started("daphne", server) as port:
            socket, speaker = talk()
            socket.send("conversation.read", {"conversation_id": conversation_id}, ref="2")
            assert socket.wait_for("reply", ref="2")["data"]["unread_count"] == 0
            socket.connection.send("{")
            assert socket.wait_for("reply")["error"] == "parse_error"
            address = f"ws://127.0.0.1:{port}/api/v1/realtime"
            # daphne itself refuses what it cannot parse.
            with pytest.raises(InvalidStatus) as refused, connect(address, origin="http://["):
                pass
            assert refused.value.response.status_code == 400
            with connect(address, origin="https://evil.example") as foreign, pytest.raises(ConnectionClosed) as closed:
                foreign.recv(5)
            assert closed.value.rcvd.code == 4403
            with pytest.raises(InvalidStatus) as refused, connect(f"ws://127.0.0.1:{port}/nowhere"):
                pass
            assert refused.value.response.status_code == 403
            ben.http = httpx.Client(base_url=f"{server.base}/api/v1", timeout=20)
            ben.call("POST", "/auth/logout")
            socket.receive_until_closed()
            assert socket.connection.close_code == 4401
            speaker.connection.send(" " * 65_537)
            speaker.receive_until_closed()
            assert speaker.connection.close_code == 4400
            socket.close()
    finally:
        ann.close()
        ben.close()
