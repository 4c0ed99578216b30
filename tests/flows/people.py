"""A person who uses the service from outside: over HTTP and over a socket."""

import json

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.waiting import wait_for

PATIENCE_SECONDS = 30


class Person:
    def __init__(self, server, name):
        self.server = server
        self.email = f"{name.lower()}@example.com"
        self.http = httpx.Client(base_url=f"{server.base}/api/v1", timeout=20, verify=server.tls or True)
        self.id = 0
        self.token = ""
        self.name = name

    def close(self):
        self.http.close()

    def again(self):
        """The same person on a connection of their own."""
        other = Person(self.server, self.name)
        other.id, other.token = self.id, self.token
        return other

    def call(self, method, path, data=None, *, status=200):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = self.http.request(method, path, json=data, headers=headers)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text[:500]}"
        body = response.json()
        assert body["ok"] is (status < 400)
        return body

    def sign_up(self, mail_sink):
        """Sign up, read the code from the mail, confirm the address."""
        data = {"first_name": self.name, "last_name": "Example", "email": self.email, "language": "en"}
        self.call("POST", "/auth/signup", {**data, "password": f"a long word for {self.name.lower()}s"}, status=201)
        code = wait_for(lambda: mail_sink.code_for(self.email), what=f"a code for {self.email}")
        body = self.call("POST", "/auth/verify", {"email": self.email, "code": code})
        self.token, self.id = body["token"], body["user"]["id"]
        assert body["user"]["is_verified"] is True

    def send(self, conversation_id, body, client_id):
        """Send over REST until it is acknowledged, as an app does. Returns the message."""
        data = {"body": body, "client_id": client_id}

        def attempt():
            try:
                headers = {"Authorization": f"Bearer {self.token}"}
                path = f"/messages/conversations/{conversation_id}/messages"
                response = self.http.post(path, json=data, headers=headers)
            except httpx.TransportError:
                return None
            assert response.status_code in (200, 201, 503), response.text[:500]
            return response.json().get("message")

        return wait_for(attempt, what=f"an answer to {body!r}", seconds=60)

    def messages(self, conversation_id):
        return self.call("GET", f"/messages/conversations/{conversation_id}/messages?limit=100")["messages"]

    def socket(self, resume=None):
        return Socket(self, resume)


class Socket:
    """One connection, authenticated by its first frame. Keeps every durable event it saw."""

    def __init__(self, person, resume=None):
        address = person.server.base.replace("http", "ws") + "/api/v1/realtime"
        self.manager = connect(address, open_timeout=20, ssl=person.server.tls)
        self.connection = self.manager.__enter__()
        self.events = []
        data = {"token": person.token} | ({"resume": resume} if resume else {})
        self.send("auth", data, ref="auth")
        self.ready = self.wait_for("ready")["data"]

    def send(self, kind, data, *, ref=None):
        self.connection.send(json.dumps({"type": kind, "data": data} | ({"ref": ref} if ref else {})))

    def receive(self, seconds=PATIENCE_SECONDS):
        frame = json.loads(self.connection.recv(timeout=seconds))
        if "seq" in frame:
            self.events.append(frame)
        return frame

    def wait_for(self, kind, *, ref=None):
        while True:
            frame = self.receive()
            if frame["type"] == kind and (ref is None or frame.get("ref") == ref):
                return frame

    def position(self):
        seq = self.events[-1]["seq"] if self.events else self.ready["seq"]
        return {"epoch": self.ready["epoch"], "seq": seq}

    def receive_until_closed(self):
        """Everything until the connection breaks."""
        try:
            while True:
                self.receive()
        except (ConnectionClosed, TimeoutError):
            return

    def close(self):
        self.manager.__exit__(None, None, None)
