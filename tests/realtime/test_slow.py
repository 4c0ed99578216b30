"""A client that never reads costs a bounded amount of memory, and is cut off."""

import socket as sockets
import threading
import time

import pytest

from accounts.models import User
from messaging.services import conversations, messages
from realtime import wakeups
from tests.factories import sign_in


def open_deaf(live, token):
    """A handshake and an auth frame by hand; then this client never reads again."""
    raw = sockets.socket()
    raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", live.port))
    raw.sendall(
        b"GET /api/v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        b"Authorization: Bearer " + token.encode() + b"\r\n\r\n"
    )
    return raw


def only_protocol(live):
    return [c for c in live.server.server_state.connections if hasattr(c, "conn")]


@pytest.mark.timeout(90)
def test_a_client_that_never_reads_is_cut_off(live, open_socket, alice, bob, settings):
    settings.REALTIME_STUCK_SECONDS = 2
    conversation = conversations.start(starter=bob, user_id=alice.id)[0].id
    deaf = open_deaf(live, sign_in(alice)[1])
    time.sleep(1)
    assert len(only_protocol(live)) == 1
    transport = only_protocol(live)[0].transport
    highest = 0
    stop = threading.Event()

    def watch():
        nonlocal highest
        while not stop.is_set():
            highest = max(highest, transport.get_write_buffer_size())
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(60):
        messages.send(sender=bob, conversation_id=conversation, body="日" * 4096)
        for _ in range(20):
            wakeups.publish([wakeups.frame_message(alice.id, {"type": "typing", "data": {"pad": "x" * 8000}})])
    deadline = time.monotonic() + 20
    while only_protocol(live) and time.monotonic() < deadline:
        time.sleep(0.1)
    stop.set()
    watcher.join()
    assert only_protocol(live) == [], "still connected"
    assert highest < 2 * 1024 * 1024
    deaf.close()
    # A client that reads has everything.
    phone = open_socket(sign_in(User.objects.get(id=alice.id))[1], resume={"epoch": _epoch(alice), "seq": 0})
    phone.expect("synced", timeout=30)
    new = [frame for frame in phone.events if frame["type"] == "message.new"]
    assert len(new) == 60


def _epoch(user):
    from realtime.services import event_log

    return event_log.position(user.id).epoch
