"""The socket's server and client for tests."""

import itertools
import json
import threading
import time
from collections import deque
from contextlib import ExitStack

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from server.protocols import Server, configuration
from tests.realtime.asyncapi import hold
from tests.server import free_port

PATH = "/api/v1/realtime"


class LiveServer:
    """uvicorn as `manage.py serve` configures it, on a loop of its own in this process."""

    def __init__(self):
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}{PATH}"
        config = configuration(host="127.0.0.1", port=self.port, workers=1, access_log=False)
        self.server = Server(config)
        self._thread = threading.Thread(target=self.server.run, daemon=True)

    def start(self):
        self._thread.start()
        deadline = time.monotonic() + 20
        while not self.server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)

    def stop(self):
        self.server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive(), "the server did not stop"


class SocketClient:
    """One device: signs in, remembers every frame, acknowledges by itself unless told not to."""

    def __init__(self, server, token=None, *, by_header=False, resume=None, acks=True, url=None, wait=True, **options):
        headers = options.pop("headers", {})
        if by_header:
            headers["Authorization"] = f"Bearer {token}"
        options.setdefault("compression", None)
        self._exits = ExitStack()
        context = connect(url or server.url, additional_headers=headers, open_timeout=20, **options)
        self.socket = self._exits.enter_context(context)
        self.acks = acks
        self.frames = []
        self.ready = None
        self._unread = deque()
        self._refs = itertools.count(1)
        # What was asked under which ref, to know what a reply answers.
        self._asked = {}
        if token is not None and not by_header:
            data = {"token": token} | ({"resume": resume} if resume else {})
            self.send("auth", data, ref="auth")
        if token is not None and wait:
            self.ready = self.expect("ready")["data"]

    # --- Frames --------------------------------------------------------------------------------

    def send(self, type, data=None, ref=None):
        frame = {"type": type, "data": data or {}}
        if ref is not None:
            frame["ref"] = ref
            self._asked[ref] = type
        self.socket.send(json.dumps(frame))

    def raw(self, frame):
        self.socket.send(frame)

    def read(self, timeout=10):
        """The next frame from the wire. ConnectionClosed, or TimeoutError."""
        frame = json.loads(self.socket.recv(timeout=timeout))
        hold(frame, self._asked.get(frame["ref"]) if frame["type"] == "reply" else None)
        self.frames.append(frame)
        if self.acks and "seq" in frame:
            self.send("ack", {"seq": frame["seq"]})
        return frame

    def expect(self, type, timeout=10, **matching):
        """The next frame of this type whose data holds these values; others wait for their turn."""
        deadline = time.monotonic() + timeout
        for frame in list(self._unread):
            if _matches(frame, type, matching):
                self._unread.remove(frame)
                return frame
        while True:
            frame = self.read(max(0.01, deadline - time.monotonic()))
            if _matches(frame, type, matching):
                return frame
            self._unread.append(frame)

    def command(self, type, timeout=10, **data):
        """Sends a command and waits for its reply."""
        ref = str(next(self._refs))
        self.send(type, data, ref)
        return self.reply(ref, timeout)

    def reply(self, ref, timeout=10):
        deadline = time.monotonic() + timeout
        while True:
            for frame in list(self._unread):
                if frame["type"] == "reply" and frame["ref"] == ref:
                    self._unread.remove(frame)
                    return frame
            self._unread.append(self.read(max(0.01, deadline - time.monotonic())))

    def silence(self, seconds=0.5):
        """Everything that comes within this time, and what was not yet looked at."""
        frames = list(self._unread)
        self._unread.clear()
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                frames.append(self.read(left))
            except TimeoutError:
                break
        return frames

    @property
    def events(self):
        """The durable ones so far."""
        return [frame for frame in self.frames if "seq" in frame]

    # --- The end -------------------------------------------------------------------------------

    def closed(self, timeout=10):
        """Waits for the server's close; (code, reason)."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self.read(max(0.01, deadline - time.monotonic()))
        except ConnectionClosed as closed:
            frame = closed.rcvd
            return (frame.code, frame.reason) if frame else (None, "")

    def close(self):
        self._exits.close()


def _matches(frame, type, matching):
    data = frame.get("data") or {}
    return frame["type"] == type and all(data.get(name) == value for name, value in matching.items())
