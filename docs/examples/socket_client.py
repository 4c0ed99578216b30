"""A small client of the real-time channel: authenticates, stores its position, acknowledges, reconnects.

    python docs/examples/socket_client.py ws://127.0.0.1:8000/api/v1/realtime --token "$TOKEN" --state place.json

Prints every event as one line of JSON. The position in the event log (epoch and number) is kept in a file, so that the
next start continues where this one ended. Needs `websockets`.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

ACK_EVERY_EVENTS = 50
ACK_EVERY_SECONDS = 5
LONGEST_WAIT_SECONDS = 30
# Token refused or origin forbidden: a retry with the same token cannot help.
FINAL_CODES = {4401, 4403}


class Client:
    def __init__(self, url: str, token: str, state: Path) -> None:
        self.url, self.token, self.state = url, token, state
        self.place = json.loads(state.read_text()) if state.exists() else None
        self.failures = 0
        self.acked = 0
        self.acked_at = time.monotonic()

    def run(self) -> int:
        """Until the sign-in ends. Returns the exit code."""
        while True:
            self.failures += 1
            try:
                with connect(self.url, max_size=None, compression=None) as socket:
                    self.talk(socket)
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else None
                if code in FINAL_CODES:
                    print(f"signed out: {closed.rcvd.reason}", file=sys.stderr)
                    return 1
            except (OSError, InvalidHandshake, TimeoutError) as error:
                print(f"no connection: {error}", file=sys.stderr)
            # Full jitter: after a restart of the server, clients do not all reconnect in the same second.
            time.sleep(random.uniform(0.1, min(LONGEST_WAIT_SECONDS, 0.5 * 2**self.failures)))

    def talk(self, socket) -> None:
        data = {"token": self.token} | ({"resume": self.place} if self.place else {})
        socket.send(json.dumps({"type": "auth", "ref": "auth", "data": data}))
        ping_at = time.monotonic() + 25
        while True:
            try:
                frame = json.loads(socket.recv(timeout=max(0.1, min(1.0, ping_at - time.monotonic()))))
            except TimeoutError:
                frame = None
            if frame is not None:
                self.take(socket, frame)
            if time.monotonic() >= ping_at:
                socket.send('{"type":"ping"}')
                ping_at = time.monotonic() + 25
            self.acknowledge(socket)

    def take(self, socket, frame: dict) -> None:
        kind, data = frame["type"], frame.get("data", {})
        if kind == "ready":
            self.failures = 0
        if kind == "ready" and self.place is None:
            # The first time: load everything over REST now, then apply what comes after this number.
            self.keep(data["epoch"], data["seq"])
        elif kind == "ready":
            self.place["epoch"] = data["epoch"]
        elif kind == "resync":
            # Our place is no longer in the log: reload over REST, go on from here.
            self.keep(self.place["epoch"], data["seq"])
        elif "seq" in frame and frame["seq"] > self.place["seq"] + 1:
            # A gap: resume from the last number that was stored.
            socket.send(json.dumps({"type": "resume", "data": self.place}))
            return
        elif "seq" in frame and frame["seq"] <= self.place["seq"]:
            return  # known already
        print(json.dumps(frame, ensure_ascii=False), flush=True)
        if "seq" in frame:
            # Only after the event was handled: no event is lost, at worst one is handled twice.
            self.keep(self.place["epoch"], frame["seq"])

    def acknowledge(self, socket) -> None:
        news = self.place["seq"] - self.acked if self.place else 0
        waited = time.monotonic() - self.acked_at
        if news >= ACK_EVERY_EVENTS or (news > 0 and waited >= ACK_EVERY_SECONDS):
            socket.send(json.dumps({"type": "ack", "data": {"seq": self.place["seq"]}}))
            self.acked, self.acked_at = self.place["seq"], time.monotonic()

    def keep(self, epoch: str, seq: int) -> None:
        self.place = {"epoch": epoch, "seq": seq}
        # Replaced at once, so that the file is whole whenever this program is stopped.
        new = self.state.with_suffix(".new")
        new.write_text(json.dumps(self.place))
        new.replace(self.state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Prints what happens to one person, as it happens.")
    parser.add_argument("url")
    parser.add_argument("--token", required=True)
    parser.add_argument("--state", type=Path, default=Path("place.json"))
    arguments = parser.parse_args()
    try:
        sys.exit(Client(arguments.url, arguments.token, arguments.state).run())
    except KeyboardInterrupt:
        sys.exit(0)
