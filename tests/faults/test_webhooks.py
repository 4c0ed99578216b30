"""Processes that send events die, their targets and databases go away: each event arrives, in its order, and nothing
arrives twice but an attempt that is repeated under its id."""

import contextlib
import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.services import registration
from integrations.models import Event, WebhookTarget
from notifications.conf import Defaults
from notifications.models import ChannelPause, Delivery
from notifications.services import delivery
from tests.databases import Backup
from tests.faults import dying
from tests.faults.dying import QUICK
from tests.faults.proxy import HANG, PASS, REFUSE, FaultyProxy
from tests.integrations.receiving import SECRET, receiver
from tests.integrations.server import PREFIX
from tests.integrations.server import server as backend
from tests.notifications.conftest import worker  # noqa: F401 (fixture)
from tests.server import ON_POSTGRES, ROOT, free_port
from tests.waiting import wait_for

needs_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite one worker is active at a time")
pytestmark = pytest.mark.timeout(400)
on_test_database = pytest.mark.django_db(transaction=True)

# What a worker has done when it is killed. The first names do not depend on the answers of the target.
SENDING = [
    "deliveries queued",
    "numbers committed",
    "claimed",
    "prepared",
    "answered",
    "results missing",
    "results stored",
]
SWITCHING_OFF = ["410", "410, cancelled", "410, switched off"]
SECONDS = 60
# What is under way when one fails may arrive before it.
FEW = 8
BATCH = QUICK["NOTIFICATIONS_BATCH"]
FORK = multiprocessing.get_context("fork")


def happen(number=1):
    """So many accounts are created, one event each."""
    for _ in range(number):
        registration.create_user(email=f"p{time.time_ns()}@example.com", password=None, first_name="Pat")


@pytest.fixture
def deliver(settings):
    """deliver(die_at=…) starts a process that delivers, with the settings of the test; all are gone at the end."""
    for name, value in QUICK.items():
        setattr(settings, name, value)
    with contextlib.ExitStack() as stack:

        def start(*, die_at=None, database_port=None):
            connections.close_all()
            process = FORK.Process(target=_deliver, args=(die_at, database_port))
            process.start()
            stack.callback(process.join)
            stack.callback(process.kill)
            return process

        yield start


def _deliver(die_at, database_port):
    if database_port is not None:
        connection.settings_dict["PORT"] = database_port
    if die_at is not None:
        dying.die_at(die_at)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    delivery.run(stopped)


def died(process):
    process.join(SECONDS)
    return process.exitcode == -signal.SIGKILL


def ids_in_order():
    """The ids of webhooks, as the log has the events."""
    return [event.webhook_id for event in Event.objects.order_by("number")]


def first_arrivals(shop):
    return list(dict.fromkeys(event.id for event in shop.received))


def most_overtaken(shop):
    """How many places the arrival of an event is away from its place in the log, at most. An event that was tried again
    after a failure of its own waited for that, while others went on."""
    failed = {event.id for event in shop.received if event.attempt > 1}
    order = [id_ for id_ in ids_in_order() if id_ not in failed]
    arrived = [id_ for id_ in first_arrivals(shop) if id_ not in failed]
    return max(abs(order.index(id_) - place) for place, id_ in enumerate(arrived))


def all_sent(number):
    return Delivery.objects.filter(state="sent").count() == number


def balance(shop, number):
    """Each event has arrived and is stored as sent, once; a reader gets all of them. Returns what arrived more than once."""
    assert not Event.objects.filter(number=None).exists()
    assert {event.is_genuine for event in shop.received} == {True}
    assert Counter(Delivery.objects.values_list("target", "state")) == {("shop", "sent"): number}
    assert {row["event"] for row in Delivery.objects.values_list("payload", flat=True)} <= {
        *Event.objects.values_list("id", flat=True)
    }
    reader, read, after = backend("events:read"), [], ""
    while page := reader.get(f"{PREFIX}/events?limit=4{after}")["events"]:
        read += page
        after = f"&after={page[-1]['id']}"
    assert [event["id"] for event in read] == list(Event.objects.order_by("number").values_list("number", flat=True))
    told = {event.id: event.body["data"]["user"]["id"] for event in shop.received}
    assert [(id_, told[id_]) for id_ in ids_in_order()] == [
        (event["webhook_id"], event["data"]["user"]["id"]) for event in read
    ]
    return [id_ for id_, times in Counter(event.id for event in shop.received).items() if times > 1]


# --- Killed processes -------------------------------------------------------------------------------------


@on_test_database
def test_a_worker_killed_at_any_step_loses_and_reorders_nothing(deliver, settings):
    each, begun = BATCH + 2, time.monotonic()
    with receiver(types="account.created") as (shop, entry):
        settings.INTEGRATIONS_WEBHOOKS = entry
        for point in SENDING:
            happen(each)
            assert died(deliver(die_at=point)), point
        # The request has arrived, and the worker does not live to read the answer.
        happen(each)
        process = deliver()
        shop.on_event = lambda event: process.kill()
        assert died(process)
        shop.on_event = lambda event: None
        happen(each)
        deliver()
        total = each * (len(SENDING) + 2)
        wait_for(lambda: all_sent(total), SECONDS)
        twice = balance(shop, total)
        assert first_arrivals(shop) == ids_in_order()
        # Each worker that died after sending has sent a batch in vain at most.
        assert len(twice) <= 3 * BATCH
        print(f"{len(SENDING) + 1} kills in {time.monotonic() - begun:.0f} s, {len(twice)} events arrived twice")


@on_test_database
def test_a_worker_killed_while_it_switches_a_target_off(deliver, settings):
    with receiver(types="account.created", statuses=[410]) as (shop, entry):
        settings.INTEGRATIONS_WEBHOOKS = entry
        for point in SWITCHING_OFF:
            happen(3)
            assert died(deliver(die_at=point)), point
            is_off = WebhookTarget.objects.exclude(switched_off_at=None).exists()
            assert is_off == (point == SWITCHING_OFF[-1]), point
        asked = len(shop.received)
        happen(3)
        deliver()
        wait_for(lambda: not Event.objects.filter(number=None).exists(), SECONDS)
        wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists(), SECONDS)
        # It is off once, gets nothing more, and its owner reads everything.
        assert AuditEntry.objects.filter(action="webhook.switched_off").count() == 1
        assert len(shop.received) == asked
        assert len(backend("events:read").get(f"{PREFIX}/events")["events"]) == 12


@on_test_database
@needs_postgres
def test_two_workers_serve_a_target_in_turns(deliver, settings):
    with receiver(types="account.created", delay=0.01) as (shop, entry):
        settings.INTEGRATIONS_WEBHOOKS = entry
        happen(60)
        first, second = deliver(), deliver()
        wait_for(lambda: len(shop.received) >= 20, SECONDS)
        happen(60)
        # Whichever of them serves it: the other one takes over.
        first.kill()
        wait_for(lambda: len(shop.received) >= 80, SECONDS)
        third = deliver()
        second.terminate()
        second.join(SECONDS)
        assert second.exitcode == 0
        wait_for(lambda: all_sent(120), SECONDS)
        assert third.is_alive()
        assert len(balance(shop, 120)) <= BATCH
        assert first_arrivals(shop) == ids_in_order()


@on_test_database
@needs_postgres
def test_the_database_goes_away_while_a_worker_sends(deliver, settings):
    proxies = [FaultyProxy(connection.settings_dict["PORT"] or 5432) for _ in range(2)]
    with receiver(types="account.created", delay=0.01) as (shop, entry):
        settings.INTEGRATIONS_WEBHOOKS = entry
        happen(100)
        workers = [deliver(database_port=proxy.port) for proxy in proxies]
        for number, faults in enumerate([(REFUSE, HANG), (HANG, REFUSE)], 1):
            # One loses it and the other takes over, then both wait for it.
            for proxy, fault in zip(proxies, faults, strict=True):
                least = len(shop.received) + 10
                wait_for(lambda least=least: len(shop.received) >= least, SECONDS)
                proxy.turn(fault)
            time.sleep(2)
            assert Delivery.objects.filter(state="sent").count() < number * 50
            for proxy in proxies:
                proxy.turn(PASS)
        wait_for(lambda: all_sent(100), SECONDS)
        assert all(one.is_alive() for one in workers)
        twice = balance(shop, 100)
        print(f"{len(twice)} events arrived twice, {most_overtaken(shop)} overtook one")
        # One that has lost the database ends its batch, beside the one that has taken over.
        assert most_overtaken(shop) <= BATCH
        assert len(twice) <= 4 * BATCH
    for proxy in proxies:
        proxy.close()


@on_test_database
def test_a_target_that_fails_in_the_middle_of_a_batch_gets_the_rest_in_order(deliver, settings):
    with receiver(types="account.created", delay=0.01) as (shop, entry):
        proxy = FaultyProxy(urlsplit(entry.split("|")[1]).port)
        settings.INTEGRATIONS_WEBHOOKS = entry.replace(f":{proxy.to}/", f":{proxy.port}/")
        happen(100)
        settings.NOTIFICATIONS_BATCH = 100
        deliver()
        for arrived in (10, 30, 50):
            wait_for(lambda least=arrived: len(shop.received) >= least, SECONDS)
            proxy.turn(REFUSE)
            time.sleep(0.02)
            proxy.turn(PASS)
        wait_for(lambda: all_sent(100), SECONDS)
        balance(shop, 100)
        assert most_overtaken(shop) <= FEW
    proxy.close()


# --- A target that is away for a day ----------------------------------------------------------------------


@pytest.fixture
def patient(settings):
    """The waits of the product, one request at a time, and a worker that looks at the clock often."""
    settings.NOTIFICATIONS_WEBHOOK_THREADS = 1
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.05
    return settings


@on_test_database
def test_a_target_that_refuses_for_a_day_gets_everything_in_order(patient, worker, clock):  # noqa: F811
    port = free_port()
    patient.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:{port}/|{SECRET}|account.created"
    happen(3)
    worker()

    def is_paused():
        return ChannelPause.objects.filter(until__gt=timezone.now()).exists()

    for _ in range(24):
        wait_for(is_paused)
        clock.forward(hours=1)
        happen(2)
    # Nothing is on its way that was signed before the clock goes forward.
    wait_for(is_paused)
    with receiver(now=lambda: clock.now().timestamp(), port=port) as (shop, _entry):
        clock.forward(hours=1)
        wait_for(lambda: all_sent(51), SECONDS)
        assert balance(shop, 51) == []
        assert first_arrivals(shop) == ids_in_order()
        # The time in which it was paused has cost no attempt.
        assert {event.attempt for event in shop.received} == {1}
        wait_for(lambda: not ChannelPause.objects.exists())


@on_test_database
def test_a_target_that_fails_for_a_day_is_tried_by_the_schedule(patient, worker, clock):  # noqa: F811
    waits = Defaults().WEBHOOK_RETRY_SECONDS
    with receiver(types="account.created", statuses=[503], now=lambda: clock.now().timestamp()) as (shop, entry):
        patient.INTEGRATIONS_WEBHOOKS = entry
        happen()
        worker()
        for number, wait in enumerate(waits, 1):
            # The last attempt succeeds: more than a day has passed.
            row = wait_for(lambda tries=number: Delivery.objects.filter(state="pending", tries=tries).first())
            seconds = (row.due_at - clock.now()).total_seconds()
            assert wait * 0.8 - 5 <= seconds <= wait * 1.2
            if number == len(waits):
                shop.statuses = [200]
            clock.forward(seconds=wait * 1.2 + 1)
        wait_for(lambda: all_sent(1))
        assert [event.attempt for event in shop.received] == list(range(1, len(waits) + 2))
        assert balance(shop, 1) == first_arrivals(shop)
        assert clock.ahead > timedelta(days=1)


# --- The whole service ------------------------------------------------------------------------------------


def manage(running, *arguments):
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=running.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def shop_of(server):
    """shop_of(): a receiver of the server's events, and a client with a server key."""
    with contextlib.ExitStack() as stack:

        def connect():
            shop, entry = stack.enter_context(receiver(types="account.*"))
            server.environment |= {"DJANGO_SETTINGS_MODULE": "tests.faults.dying_settings", "WEBHOOKS": entry}
            server.start()
            key = json.loads(
                manage(server, "create_server_key", "shop", "--scopes", "users:write,events:read", "--json")
            )
            headers = {"Authorization": f"Bearer {key['key']}"}
            client = httpx.Client(base_url=f"{server.base}{PREFIX}", headers=headers, timeout=20)
            return shop, stack.enter_context(client)

        yield connect


def create(client, number):
    user = {"email": f"u{number}@example.com", "first_name": "U", "last_name": "X", "external_id": f"u-{number}"}
    return client.post("/users", json=user)


def events_after(client, after):
    return client.get("/events", params={"after": after, "limit": 1000}).json()["events"]


def told(shop):
    """The external ids of users whose accounts were created, as they arrived."""
    return [
        event.body["data"]["user"]["external_id"] for event in shop.received if event.body["type"] == "account.created"
    ]


@pytest.mark.parametrize(("point", "status"), [("event written", 201), ("event committed", 200)])
def test_a_web_process_killed_around_a_commit_loses_no_event(server, shop_of, point, status):
    shop, client = shop_of()
    server.kill()
    server.environment["DIE_AT"] = point
    server.start()
    with pytest.raises(httpx.TransportError):
        create(client, 1)
    assert server.process.wait(10) == -signal.SIGKILL
    server.environment["DIE_AT"] = ""
    server.start()
    # Its caller repeats the request; the user is there exactly when the transaction had committed.
    assert create(client, 1).status_code == status
    wait_for(lambda: told(shop), SECONDS)
    assert create(client, 2).status_code == 201
    wait_for(lambda: len(told(shop)) == 2, SECONDS)
    assert told(shop) == ["u-1", "u-2"]


def test_a_restored_backup_confuses_no_reader(server, shop_of):
    shop, client = shop_of()
    for number in (1, 2):
        create(client, number)
    wait_for(lambda: len(told(shop)) == 2, SECONDS)
    shop.statuses = [500]
    create(client, 3)
    wait_for(lambda: "u-3" in told(shop), SECONDS)
    assert server.stop() == 0
    backup = Backup(server.environment)

    shop.statuses = [200]
    server.start()
    create(client, 4)
    wait_for(lambda: "u-4" in told(shop), SECONDS)
    last = events_after(client, 0)[-1]["id"]
    before = {event.id for event in shop.received}
    server.kill()
    backup.restore()
    backup.remove()
    manage(server, "new_epoch")
    known = len(shop.received)
    server.start()
    # What waited in the backup is sent again, under its id; what was lost is done again, and is another event.
    wait_for(lambda: "u-3" in told(shop)[-1:] and len(shop.received) > known, SECONDS)
    assert {event.id for event in shop.received[known:]} <= before
    known = len(shop.received)
    assert [create(client, number).status_code for number in (3, 4, 5)] == [200, 201, 201]
    wait_for(lambda: told(shop)[-1:] == ["u-5"], SECONDS)
    assert not {event.id for event in shop.received[known:]} & before
    # A reader goes on from the number that it has: it gets what is new, and nothing that it has seen.
    fresh = [event for event in events_after(client, last) if event["type"] == "account.created"]
    assert [event["data"]["user"]["external_id"] for event in fresh] == ["u-4", "u-5"]
