"""The application is the same under daphne: sign in, talk, be refused, be closed."""

import subprocess
import sys
import time

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.flows.conftest import mail_sink, server  # noqa: F401 (fixtures)
from tests.flows.people import Person
from tests.server import ROOT, free_port


@pytest.mark.timeout(120)
def test_the_socket_works_under_daphne(server, mail_sink):  # noqa: F811
    server.start()
    ann, ben = Person(server, "Ann"), Person(server, "Ben")
    ann.sign_up(mail_sink)
    ben.sign_up(mail_sink)
    conversation_id = ann.call("POST", "/messages/conversations", {"user_id": ben.id}, status=201)["conversation"]["id"]
    assert server.stop() == 0

    port = free_port()
    command = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "config.asgi:application"]
    with server.log.open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=server.environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        server.base = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx.get(f"{server.base}/healthz", timeout=2)
                break
            except httpx.TransportError:
                assert time.monotonic() < deadline, server.output()
                time.sleep(0.2)
        socket = ben.socket()
        speaker = ann.socket()
        speaker.send("message.send", {"conversation_id": conversation_id, "body": "hi"}, ref="1")
        assert speaker.wait_for("reply", ref="1")["ok"] is True
        assert socket.wait_for("message.new")["data"]["message"]["body"] == "hi"
        socket.send("conversation.read", {"conversation_id": conversation_id}, ref="2")
        assert socket.wait_for("reply", ref="2")["data"]["unread_count"] == 0
        socket.connection.send("{")
        assert socket.wait_for("reply")["error"] == "parse_error"
        # daphne itself refuses what it cannot parse.
        for origin, status in {"http://[": 400, "https://evil.example": 403}.items():
            address = f"ws://127.0.0.1:{port}/api/v1/realtime"
            with pytest.raises(InvalidStatus) as refused, connect(address, origin=origin):
                pass
            assert refused.value.response.status_code == status
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
        process.kill()
        process.wait(20)
        ann.close()
        ben.close()
