"""Sockets that close together are recorded together, each as it would be alone."""

import asyncio
import threading
import time
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from realtime import selectors, wakeups
from realtime.consumers import authentication, database, hub
from realtime.consumers.consumer import RealtimeConsumer, record_closed
from realtime.consumers.protocol import Identity
from realtime.models import Socket
from realtime.services import event_log
from tests.factories import make_user, sign_in
from tests.parallel import run_parallel
from tests.realtime.phones import conversation_of, phone_of, start_call
from tests.waiting import wait_for


def closed(*phones):
    return [Identity(phone.user.id, phone.device.session_id, uuid4(), 0, phone.device.socket_id) for phone in phones]


def test_each_socket_of_a_batch_is_recorded(db, alice, bob, charlie):
    left, stays, callers, callees = phone_of(charlie), phone_of(charlie), phone_of(alice), phone_of(bob)
    call_id = start_call(callers, callees, conversation_of(alice, bob))
    deadline = callers.sees(call_id)["expires_at"]
    assert record_closed(closed(left, callers, callees)) == [None] * 3
    assert list(Socket.objects.values_list("id", flat=True)) == [stays.device.socket_id]
    assert selectors.online_user_ids([alice.id, bob.id, charlie.id]) == {charlie.id}
    assert not User.objects.filter(id__in=[alice.id, bob.id, charlie.id], last_seen_at=None).exists()
    assert callers.sees(call_id)["expires_at"] != deadline  # a minute from now, as both have gone


def test_twenty_sockets_take_as_many_queries_as_two(db):
    def queries(count):
        batch = closed(*(phone_of(make_user()) for _ in range(count)))
        with CaptureQueriesContext(connection) as captured:
            record_closed(batch)
        # One for each user who is offline now: who watches them.
        return len(captured) - count

    assert queries(20) == queries(2) <= 10


def test_who_comes_back_while_a_batch_is_recorded_is_not_announced_as_offline(db, monkeypatch):
    users = [make_user() for _ in range(3)]
    batch = closed(*(phone_of(user) for user in users))
    announced = []
    monkeypatch.setattr(wakeups, "publish", lambda messages: announced.extend(messages))
    peers_of = selectors.online_peers_of

    def peers_and_back(user_id):
        # The reader of the first one's watchers is slow; meanwhile the last one has a new socket.
        if user_id == min(user.id for user in users):
            phone_of(users[-1])
        return peers_of(user_id) | {users[0].id}

    monkeypatch.setattr(selectors, "online_peers_of", peers_and_back)
    record_closed(batch)
    offline = {message["frame"]["data"]["user_id"] for message in announced if message["type"] == "frame"}
    assert offline == {user.id for user in users[:-1]}


@pytest.mark.django_db(transaction=True)
def test_two_processes_record_sockets_of_the_same_users_at_once():
    users = [make_user() for _ in range(10)]
    for _ in range(5):
        batches = [closed(*(phone_of(user) for user in users)) for _ in range(4)]
        for batch in batches[::2]:
            batch.reverse()
        run_parallel([lambda batch=batch: record_closed(batch) for batch in batches])
    assert not Socket.objects.exists()
    assert not User.objects.filter(id__in=[user.id for user in users], last_seen_at=None).exists()


def test_positions_are_in_the_order_of_the_users(db, alice, bob):
    first, second = event_log.positions([bob.id, alice.id])
    assert (first, second) == (event_log.position(bob.id), event_log.position(alice.id))
    assert first.epoch != second.epoch
    assert event_log.positions([alice.id, alice.id]) == [second, second]


def test_a_socket_that_closes_while_it_signs_in_leaves_nothing(open_socket, alice, monkeypatch):
    signing_in, has_closed, done = threading.Event(), threading.Event(), threading.Event()
    sign_in_now = authentication._sign_in

    def slow(*arguments):
        signing_in.set()
        has_closed.wait(5)
        try:
            return sign_in_now(*arguments)
        finally:
            done.set()

    monkeypatch.setattr(authentication, "_sign_in", slow)
    phone = open_socket(sign_in(alice)[1], by_header=False, wait=False)
    assert signing_in.wait(5)
    phone.close()
    time.sleep(0.5)
    has_closed.set()
    assert done.wait(5)
    wait_for(lambda: not Socket.objects.exists(), what="the closed socket to be forgotten")
    assert selectors.online_user_ids([alice.id]) == set()


def test_a_server_that_stops_waits_until_every_batch_is_recorded(open_socket, live, alice, monkeypatch):
    monkeypatch.setattr(database, "BATCH", 1)
    for _ in range(4):
        open_socket(sign_in(alice)[1])
    live.stop()
    assert not Socket.objects.exists()


def test_a_sign_in_that_fails_half_way_leaves_nothing(open_socket, alice, monkeypatch):
    def fail(**_):
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(authentication.presence, "user_connected", fail)
    phone = open_socket(sign_in(alice)[1], by_header=False, wait=False)
    assert phone.closed() == (4503, "service_unavailable")
    assert selectors.online_user_ids([alice.id]) == set()


@pytest.mark.parametrize("error", [RuntimeError, OSError])  # of daphne, of uvicorn
def test_a_client_that_disappears_is_no_error_of_the_server(open_socket, alice, monkeypatch, caplog, error):
    phone = open_socket(sign_in(alice)[1])
    has_failed = threading.Event()

    async def send(self, text_data):
        has_failed.set()
        raise error("closed")

    monkeypatch.setattr(RealtimeConsumer, "send", send)
    phone.send("ping")
    assert has_failed.wait(5)
    time.sleep(0.2)
    assert "a socket could not send" not in caplog.text


async def test_no_subscription_is_left_when_the_last_socket_closes_while_it_begins(settings, monkeypatch):
    class Layer:
        subscribed = set()

        async def group_add(self, group, channel):
            here.leave(7, socket)
            self.subscribed.add(group)

        async def group_discard(self, group, channel):
            self.subscribed.discard(group)

    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(hub, "get_channel_layer", Layer)
    monkeypatch.setattr(hub, "LINGER_SECONDS", 0)
    here, socket = hub.Hub(), object()
    here.sockets = {7: {socket}}
    here._has_channel.set()
    here.rejoin(7)
    await asyncio.sleep(0.1)
    assert here.sockets == {}
    assert Layer.subscribed == set()


async def test_what_arrives_after_the_close_does_not_keep_a_socket_whose_client_lagged_behind():
    consumer = RealtimeConsumer()
    consumer.is_closing = True
    consumer.outbox.log.blocked_at = 1.0
    # The position of the log was being read when the socket closed.
    consumer.outbox.log.advance_head(5)
    await asyncio.sleep(0.05)
    assert hub.Hub.here().sending == set()
