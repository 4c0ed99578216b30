"""Redis only wakes. Killed, frozen or restarted, it delays what happens by a heartbeat and costs no request."""

import pickle
import shutil
import signal
import subprocess
import sys
import time
from functools import cache

import msgpack
import pytest
import redis

from realtime import wakeups
from tests.databases import TemporaryDatabase
from tests.flows.people import Person
from tests.server import ON_POSTGRES, RunningServer, free_port

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")


class OwnRedis:
    """A Redis of this test alone, which it may kill."""

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.folder = folder
        self.process = None

    def start(self):
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        for _ in range(200):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.05)
        client.close()

    def kill(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(10)
            self.process = None


@pytest.fixture
def own_redis(tmp_path):
    server = OwnRedis(tmp_path)
    server.start()
    yield server
    server.kill()


# --- The form of a wake-up -----------------------------------------------------------------------


async def test_a_wake_up_has_the_layers_own_form(own_redis, settings, monkeypatch):
    """Pinned to the installed channels_redis: what we publish is what its group_send would publish."""
    from channels.layers import channel_layers, get_channel_layer

    config = {"hosts": [{"address": own_redis.url, "socket_timeout": 15}], "prefix": "form"}
    settings.REDIS_URL = own_redis.url
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": config}
    }
    monkeypatch.setattr(channel_layers, "backends", {})
    monkeypatch.setattr(wakeups, "_redis_clients", cache(wakeups._redis_clients.__wrapped__))
    monkeypatch.setattr(wakeups, "_paused_until", {})
    layer = get_channel_layer()
    message = {"type": "new_events", "user_id": 7, "seq": 2**40}
    received = []
    with redis.Redis.from_url(own_redis.url).pubsub() as listener:
        listener.psubscribe("*")
        listener.get_message(timeout=5)
        await layer.group_send(wakeups.group_of(7), message)
        received.append(listener.get_message(timeout=5))
        wakeups.publish([message])
        received.append(listener.get_message(timeout=5))
    theirs, ours = ((frame["channel"].decode(), frame["data"]) for frame in received)
    assert ours == theirs == wakeups.published_form(message)
    # And the layer itself takes it for its own.
    channel = await layer.new_channel()
    await layer.group_add(wakeups.group_of(7), channel)
    wakeups.publish([message])
    assert await layer.receive(channel) == message
    await layer.flush()


# --- Two processes, one Redis, and what becomes of them -------------------------------------------


@pytest.fixture
def deployment(tmp_path, mail_sink, own_redis):
    """Requests go to one server, the sockets are held by another: only Redis wakes between them."""
    environment = {"EMAIL_URL": mail_sink.url, "REDIS_URL": own_redis.url, "RATELIMIT_ENABLE": "0"}
    environment["CHANNEL_PREFIX"] = f"deployment-{own_redis.port}"
    database = TemporaryDatabase() if ON_POSTGRES else None
    if database is not None:
        environment["DATABASE_URL"] = database.__enter__()
    servers = [RunningServer(tmp_path, **environment), RunningServer(tmp_path, **environment)]
    for server in servers:
        server.start()
    yield servers
    for server in servers:
        server.kill()
    if database is not None:
        database.__exit__()


@pytest.fixture
def mail_sink():
    from aiosmtpd.controller import Controller

    from tests.flows.conftest import MailSink

    sink = MailSink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    sink.url = f"smtp://127.0.0.1:{controller.port}"
    yield sink
    controller.stop()


def two_people(server, mail_sink):
    """Ann, Ben, and the id of their conversation."""
    ann, ben = Person(server, "Ann"), Person(server, "Ben")
    ann.sign_up(mail_sink)
    ben.sign_up(mail_sink)
    conversation = ann.call("POST", "/messages/conversations", {"user_id": ben.id}, status=201)["conversation"]
    return ann, ben, conversation["id"]


@pytest.mark.timeout(240)
def test_a_dead_redis_costs_no_request_and_loses_nothing(deployment, own_redis, mail_sink):
    requests, sockets = deployment
    ann, ben, conversation_id = two_people(requests, mail_sink)
    ben.server = sockets
    socket = ben.socket()
    ann.send(conversation_id, "while all is well", "before")
    assert socket.wait_for("message.new")["data"]["message"]["body"] == "while all is well"

    def burst(name, count):
        slowest = 0.0
        for n in range(count):
            started = time.monotonic()
            answer = ann.http.post(
                f"/messages/conversations/{conversation_id}/messages",
                json={"body": f"{name} {n}", "client_id": f"{name}-{n}"},
                headers={"Authorization": f"Bearer {ann.token}"},
            )
            slowest = max(slowest, time.monotonic() - started)
            assert answer.status_code == 201, answer.text
        return slowest

    def catch_up(name, count):
        """After one heartbeat everything is there, in order, nothing twice."""
        socket.send("ping", {})
        bodies = []
        while len(bodies) < count:
            frame = socket.receive()
            if "seq" in frame:
                socket.send("ack", {"seq": frame["seq"]})
            if frame["type"] == "message.new":
                bodies.append(frame["data"]["message"]["body"])
        assert bodies == [f"{name} {n}" for n in range(count)]
        numbers = [event["seq"] for event in socket.events]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    own_redis.kill()
    assert burst("killed", 100) < 5
    catch_up("killed", 100)
    # A new socket opens without Redis, too.
    late = ben.socket()
    assert late.ready["user_id"] == ben.id
    late.close()

    own_redis.start()
    time.sleep(4)
    socket.send("ping", {})
    ann.send(conversation_id, "live again", "again")
    assert socket.wait_for("message.new")["data"]["message"]["body"] == "live again"

    own_redis.process.send_signal(signal.SIGSTOP)
    frozen = burst("frozen", 30)
    own_redis.process.send_signal(signal.SIGCONT)
    assert frozen < 5
    catch_up("frozen", 30)
    socket.close()
    ann.close()
    ben.close()


@pytest.mark.timeout(120)
def test_what_is_watched_needs_no_redis(deployment, own_redis, mail_sink):
    """Redis restarts, and a process is woken again only a moment later: what is asked meanwhile stays asked."""
    server, _ = deployment
    ann, ben, conversation_id = two_people(server, mail_sink)
    ann.send(conversation_id, "hello", "c1")
    socket = ann.socket()
    own_redis.kill()
    own_redis.start()
    socket.send("presence.watch", {"user_ids": [ben.id]})
    time.sleep(4)
    other = ben.socket()
    assert socket.wait_for("presence")["data"]["online"] is True
    socket.close()
    other.close()
    ann.close()
    ben.close()


@pytest.mark.once
@pytest.mark.timeout(120)
def test_without_redis_a_change_of_another_process_arrives_with_the_sweep(tmp_path, mail_sink):
    """The embedded default: manage.py changes something, the socket hears of it all the same."""
    server = RunningServer(tmp_path, EMAIL_URL=mail_sink.url)
    server.start()
    try:
        ann = Person(server, "Ann")
        ann.sign_up(mail_sink)
        socket = ann.socket()
        script = (
            "from accounts.models import Session; from accounts.sign_in import sessions;"
            "sessions.revoke(Session.objects.all(), reason='removed')"
        )
        subprocess.run(
            [sys.executable, "manage.py", "shell", "-c", script],
            check=True,
            env=server.environment,
            capture_output=True,
        )
        started = time.monotonic()
        socket.receive_until_closed()
        assert time.monotonic() - started < 25
        assert ann.http.get("/auth/me", headers={"Authorization": f"Bearer {ann.token}"}).status_code == 401
        socket.close()
        ann.close()
    finally:
        server.kill()


# --- What others write to Redis --------------------------------------------------------------------

MESSAGES = [
    {"type": "new_events", "user_id": 1, "seq": 5},
    {"type": "new_events", "user_id": 1, "seq": 5, "events": [[5, "x"]], "copy": None},
    {"type": "poll_position", "user_id": 1},
    {"type": "frame", "user_id": 1, "frame": {"type": "typing", "data": {}}, "droppable": True},
    {"type": "watch", "user_id": 1, "only": "a", "watched_ids": [2]},
    {"type": "end", "user_id": 1, "session_ids": [1], "code": "token_revoked"},
    {"type": "too_many_sockets", "user_id": 1, "socket_ids": ["a"]},
    {"type": "recheck", "user_id": 1},
]


@pytest.mark.once
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["type"])
def test_a_message_has_every_field_of_its_type_and_no_other(message):
    assert wakeups.is_message(message)
    for name in message:
        assert name in ("events", "copy") or not wakeups.is_message({k: v for k, v in message.items() if k != name})
        for wrong in (None, "1", 1.5, [], {}, True, 7):
            same = type(wrong) is type(message[name]) or (name == "copy" and isinstance(wrong, list))
            assert same or not wakeups.is_message(message | {name: wrong}), (name, wrong)
    assert not wakeups.is_message(message | {"more": 1})


@pytest.mark.once
@pytest.mark.parametrize(
    "value", [None, 1, "text", b"x", [], {}, {"type": "message"}, {"type": ["frame"]}, {"type": "__class__"}]
)
def test_anything_else_is_not_a_message(value):
    assert not wakeups.is_message(value)


@pytest.mark.timeout(240)
def test_what_is_no_message_is_skipped(deployment, own_redis, mail_sink):
    """The process that holds the socket goes on at once, and nothing of it is run."""
    requests, sockets = deployment
    ann, ben, conversation_id = two_people(requests, mail_sink)
    channel = f"{requests.environment['CHANNEL_PREFIX']}__group__{wakeups.group_of(ben.id)}"
    packed = [msgpack.packb(value) for value in (None, 7, "text", [1], {}, {"type": "message", "user_id": ben.id})]
    packed += [msgpack.packb(message | {"user_id": ben.id, "more": 1}) for message in MESSAGES]
    ben.server = sockets
    socket = ben.socket()
    with redis.Redis.from_url(own_redis.url) as client:
        for content in [b"", b"\xc1", b"\x92\x01", pickle.dumps(ann.id), b"{}", b"\xdf\xff\xff\xff\xff", *packed]:
            assert client.publish(channel, content) == 1, content
    started = time.monotonic()
    ann.send(conversation_id, "after all that", "after")
    assert socket.wait_for("message.new")["data"]["message"]["body"] == "after all that"
    # Before the next sweep: the wake-up itself arrived.
    assert time.monotonic() - started < 2
    assert "could not take" not in sockets.output() and "not listening" not in sockets.output()
    for client in (socket, ann, ben):
        client.close()
