"""Workers die, share the work and stop politely; nothing is lost, and little is sent twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from typing import ClassVar

import pytest
from django.db import OperationalError
from django.utils import timezone

from notifications.channels import DeviceGone, PushChannel, Sent
from notifications.conf import PUSH_PROVIDERS, conf
from notifications.models import Delivery, Device
from notifications.services import delivery, devices
from notifications.services.delivery import claims, outbox, push_handler
from tests.databases import under_test
from tests.factories import make_user, sign_in
from tests.notifications.fake_fcm import ROOT, FakeFcm
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(400)]

needs_postgres = pytest.mark.skipif(
    os.environ.get("BACKEND") != "postgres", reason="on SQLite one worker is active at a time"
)


@pytest.fixture
def slow_fcm(tmp_path):
    """Takes its time, so that a kill hits a batch in the middle."""
    fake = FakeFcm(tmp_path, "--delay", "0.03")
    yield fake
    fake.stop()


@pytest.fixture
def deliver(tmp_path, slow_fcm):
    """deliver() starts `manage.py deliver` on the test's database; all are gone at the end."""
    processes = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "manage.py", "deliver"],
            cwd=ROOT,
            env={
                **os.environ,
                **slow_fcm.environment,
                "DJANGO_SETTINGS_MODULE": "tests.notifications.worker_settings",
                "DATABASE_URL": under_test(),
                "VAR_DIR": str(tmp_path),
            },
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        process.stderr.close()


def fill(count, people=20):
    """`count` waiting pushes, each to a device of its own."""
    now = timezone.now()
    owners = []
    for _ in range(people):
        user = make_user("Pat")
        owners.append((user, sign_in(user)[0]))
    devices = Device.objects.bulk_create(
        Device(
            user=owners[number % people][0],
            session=owners[number % people][1],
            registration_id=f"phone-{number}",
            token_digest=f"digest-{number}",
        )
        for number in range(count)
    )
    Delivery.objects.bulk_create(
        Delivery(
            channel="push",
            kind="test",
            dedupe_key=f"test:{device.id}",
            recipient_id=device.user_id,
            device=device,
            expires_at=now + timedelta(hours=1),
        )
        for device in devices
    )


def counts():
    return Counter(Delivery.objects.values_list("state", flat=True))


def kill_and_check(deliver, fcm, *, rows, kills):
    """Rows come in while workers die. Each sends a batch's worth in vain at most, and nothing else is sent twice."""
    at_once = rows // (kills + 1)
    fill(rows)
    Delivery.objects.update(due_at=timezone.now() + timedelta(days=1))
    ids = list(Delivery.objects.order_by("id").values_list("id", flat=True))
    in_vain = []
    for kill in range(kills):
        # A part of the load comes with every worker, so that every kill hits one at work.
        Delivery.objects.filter(id__in=ids[kill * at_once : (kill + 1) * at_once]).update(due_at=timezone.now())
        before = len(fcm.requests())
        process = deliver()
        wait_for(lambda before=before: len(fcm.requests()) > before, 30)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        tried = settled(fcm)[before:]
        known = set(Delivery.objects.filter(state="sent").values_list("device__registration_id", flat=True))
        in_vain.append(sum(one["token"] not in known for one in tried))
    assert max(in_vain) <= conf.BATCH
    Delivery.objects.filter(state="pending").update(due_at=timezone.now())
    deliver()
    wait_for(lambda: counts()["sent"] == rows, 120)
    times = Counter(one["token"] for one in fcm.requests())
    print(f"{kills} kills, {rows} rows, sent twice after each: {in_vain}; most often one row: {max(times.values())}")
    assert set(times) == {f"phone-{number}" for number in range(rows)}
    assert sum(times.values()) - rows == sum(in_vain)
    assert counts() == {"sent": rows}


def settled(fcm):
    """The requests, when nothing of a dead worker is under way any more."""
    seen = fcm.requests()
    while True:
        time.sleep(0.2)
        if len(now := fcm.requests()) == len(seen):
            return now
        seen = now


def test_killed_workers_lose_nothing(deliver, slow_fcm):
    kill_and_check(deliver, slow_fcm, rows=400, kills=3)


@pytest.mark.skipif(not os.environ.get("FULL"), reason="twenty kills take minutes: FULL=1")
def test_twenty_killed_workers_lose_nothing(deliver, slow_fcm):
    kill_and_check(deliver, slow_fcm, rows=2000, kills=20)


@needs_postgres
def test_two_workers_share_the_work_and_send_nothing_twice(deliver, slow_fcm):
    fill(600)
    deliver(), deliver()
    wait_for(lambda: counts()["sent"] == 600, 60)
    times = Counter(one["token"] for one in slow_fcm.requests())
    assert len(times) == 600 and set(times.values()) == {1}


def test_a_stopped_worker_gives_back_what_it_did_not_send(deliver, slow_fcm):
    fill(400)
    process = deliver()
    wait_for(lambda: slow_fcm.requests(), 30)
    process.terminate()
    assert process.wait(20) == 0
    after = counts()
    assert after["leased"] == 0 and after["sent"] == len(slow_fcm.requests())
    assert not Delivery.objects.filter(state="pending", tries__gt=0).exists()


def test_new_rows_wake_an_idle_worker(deliver, slow_fcm):
    fill(1)
    deliver()
    wait_for(lambda: counts()["sent"] == 1, 30)
    device = Device.objects.get()
    begun = time.monotonic()
    delivery.enqueue_test_push(recipient_id=device.user_id)
    wait_for(lambda: counts()["sent"] == 2)
    # Generous: the machine may be busy. A worker that only sweeps needs the sweep's time on SQLite.
    assert time.monotonic() - begun < 5


def test_an_outage_of_the_database_is_logged_when_it_begins_and_when_it_ends(worker, settings, monkeypatch, caplog):
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.1
    claim, attempts = claims.claim, Counter()

    def claim_in_an_outage(*, channel, **arguments):
        attempts[channel] += 1
        if min(attempts["mail"], attempts["push"]) <= 2:
            raise OperationalError("the server closed the connection")
        return claim(channel=channel, **arguments)

    monkeypatch.setattr(claims, "claim", claim_in_an_outage)
    worker()
    wait_for(lambda: "goes on" in caplog.text)
    logged = [(one.levelname, one.getMessage()) for one in caplog.records if one.name.startswith("notifications.")]
    assert logged == [
        ("WARNING", "Delivery waits for the database (OperationalError)."),
        ("WARNING", "Delivery goes on, the database answers again."),
    ]


def test_a_result_is_stored_although_the_database_failed_in_what_follows_from_it(
    fcm, worker, bob, device_of, monkeypatch
):
    fcm.script(device_of(bob).registration_id, "UNREGISTERED")

    def fail(device_id, token):
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(outbox, "switch_off", fail)
    outbox.enqueue_test_push(recipient_id=bob.id)
    worker()
    wait_for(lambda: Delivery.objects.get().state == "dead")
    assert len(fcm.requests()) == 1


def test_claimed_rows_wait_for_no_lease_when_the_database_fails_before_they_are_sent(
    fcm, worker, bob, device_of, monkeypatch
):
    device_of(bob)
    targets, failures = push_handler._targets, []

    def fail_once(ids):
        if not failures:
            failures.append(1)
            raise OperationalError("the server closed the connection")
        return targets(ids)

    monkeypatch.setattr(push_handler, "_targets", fail_once)
    outbox.enqueue_test_push(recipient_id=bob.id)
    worker()
    wait_for(lambda: Delivery.objects.get().state == "sent")
    assert failures and Delivery.objects.get().tries == 1


def test_a_stopped_worker_stores_what_it_sent_when_the_database_is_back(fcm, bob, device_of, monkeypatch):
    device_of(bob)
    finish, failures = claims.finish, []
    stopped = threading.Event()

    def finish_in_an_outage(results):
        if results and len(failures) < 3:
            failures.append(1)
            stopped.set()
            raise OperationalError("the server closed the connection")
        finish(results)

    monkeypatch.setattr(claims, "finish", finish_in_an_outage)
    outbox.enqueue_test_push(recipient_id=bob.id)
    thread = threading.Thread(target=delivery.run, args=(stopped,))
    thread.start()
    thread.join(30)
    assert failures
    assert Delivery.objects.get().state == "sent"


class SlowlyGone(PushChannel):
    """Refuses the token "old", once the test has gone on."""

    asked: ClassVar[threading.Event]
    answers: ClassVar[threading.Event]

    def send(self, message, *, dry_run=False):
        if message.token != "old":
            return Sent("taken")
        self.asked.set()
        self.answers.wait(20)
        return DeviceGone("UNREGISTERED")


def test_the_end_of_a_token_leaves_the_one_that_replaced_it(worker, settings, monkeypatch, bob):
    monkeypatch.setitem(PUSH_PROVIDERS, "slow", f"{__name__}.SlowlyGone")
    for name in ("asked", "answers"):
        monkeypatch.setattr(SlowlyGone, name, threading.Event(), raising=False)
    settings.NOTIFICATIONS_PUSH_BACKEND = "slow"
    session, _ = sign_in(bob)
    phone = {"user_id": bob.id, "session_id": session.id, "device_id": "phone"}
    devices.register(token="old", **phone)
    outbox.enqueue_test_push(recipient_id=bob.id)
    worker()
    assert SlowlyGone.asked.wait(20)
    devices.register(token="new", **phone)
    SlowlyGone.answers.set()
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())
    assert Device.objects.values_list("registration_id", "active").get() == ("new", True)
    assert Delivery.objects.values_list("state", "provider_id").get() == ("sent", "taken")
