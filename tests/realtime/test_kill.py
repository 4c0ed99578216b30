"""kill -9 under load: what was acknowledged is there once, and every device has all of it, in order."""

import threading
import time

import pytest
from websockets.exceptions import WebSocketException

from tests.flows.conftest import mail_sink, server  # noqa: F401 (fixtures)
from tests.flows.people import Person
from tests.parallel import Started, run_parallel
from tests.waiting import wait_for

SENDERS = 4
KILLS = 3


class Listener(threading.Thread):
    """A device that reconnects and resumes for as long as the test runs."""

    def __init__(self, person):
        super().__init__(daemon=True)
        self.person = person
        self.events = []
        self.position = None
        self.resets = 0
        self.stopping = False

    def run(self):
        while not self.stopping:
            try:
                self.listen()
            except (OSError, WebSocketException, TimeoutError):
                time.sleep(0.2)

    def listen(self):
        socket = self.person.socket(self.position)
        try:
            if self.position is None:
                self.position = {"epoch": socket.ready["epoch"], "seq": socket.ready["seq"]}
            self.resets += socket.ready["epoch"] != self.position["epoch"]
            while not self.stopping:
                try:
                    frame = socket.receive(0.5)
                except TimeoutError:
                    socket.send("ping", {})
                    continue
                if frame["type"] == "resync":
                    self.resets += 1
                if "seq" in frame:
                    assert frame["seq"] == self.position["seq"] + 1
                    self.position["seq"] = frame["seq"]
                    self.events.append(frame)
                    socket.send("ack", {"seq": frame["seq"]})
        finally:
            socket.close()


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_when_the_server_is_killed(server, mail_sink):  # noqa: F811
    server.environment["RATELIMIT_ENABLE"] = "0"
    server.start()
    ann, ben = Person(server, "Ann"), Person(server, "Ben")
    ann.sign_up(mail_sink)
    ben.sign_up(mail_sink)
    conversation_id = ann.call("POST", "/messages/conversations", {"user_id": ben.id}, status=201)["conversation"]["id"]
    listeners = [Listener(ann), Listener(ben), Listener(ben)]
    for listener in listeners:
        listener.start()
    # A device hears what happens after it has been told where the log stands.
    wait_for(lambda: all(listener.position for listener in listeners), what="three devices that listen")
    acknowledged, stop = {}, threading.Event()

    def send(number):
        person = Person(server, "Ann")
        person.token = ann.token
        try:
            count = 0
            while not stop.is_set():
                body = f"{number}-{count}"
                acknowledged[body] = person.send(conversation_id, body, f"c{number}-{count}")["id"]
                count += 1
        finally:
            person.close()

    senders = Started(lambda: run_parallel([lambda n=n: send(n) for n in range(SENDERS)], seconds=120))
    for _ in range(KILLS):
        time.sleep(2)
        server.kill()
        server.start()
    time.sleep(2)
    stop.set()
    senders.end(seconds=120)
    assert len(acknowledged) > 20
    head = ben.call("GET", "/realtime/changes")["seq"]
    deadline = time.monotonic() + 30
    while any(item.position["seq"] < head for item in listeners[1:]) and time.monotonic() < deadline:
        time.sleep(0.1)
    for listener in listeners:
        listener.stopping = True
    for listener in listeners:
        listener.join(20)
    for listener in listeners[1:]:
        assert listener.resets == 0
        received = [e["data"]["message"] for e in listener.events if e["type"] == "message.new"]
        ids = [message["id"] for message in received]
        assert ids == sorted(set(ids))
        assert {message["body"]: message["id"] for message in received} == acknowledged
    ann.close()
    ben.close()
