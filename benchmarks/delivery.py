"""The rate of queueing and sending deliveries, with a channel that takes no time.

    python -m benchmarks.delivery [--rows N] [--json]

Runs on the database that DATABASE_URL names, in a database of its own beside it; on SQLite in a
scratch file. Measures pushes queued one event at a time (each with its own commit), and the rate at
which a worker claims, checks, renders, hands over and finishes them.
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
import uuid
from datetime import timedelta
from typing import Any

SCRATCH = tempfile.mkdtemp(prefix="parley-benchmark-")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("DATABASE_URL", f"sqlite:///{SCRATCH}/parley.sqlite3")
os.environ["VAR_DIR"] = SCRATCH
os.environ["DEBUG"] = "1"

import django

django.setup()

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import Block, Session, User
from benchmarks import database
from notifications.channels import Outcome, Sent
from notifications.models import Delivery, Device, Notification
from notifications.services import delivery
from notifications.services.delivery import push_handler, supervisor


class Instant:
    """A push service that accepts everything immediately."""

    def __init__(self) -> None:
        self.count = 0

    def send(self, message: dict[str, Any], *, dry_run: bool = False) -> Outcome:
        self.count += 1
        return Sent("instant")

    def idle(self) -> None:
        pass


def people(count: int) -> list[User]:
    now = timezone.now()
    rows = User.objects.bulk_create(
        User(
            email=f"p{number}@example.com", username=f"p{number}", first_name="Pat", last_name="Example",
            username_folded=f"p{number}", first_name_folded="pat", last_name_folded="example",
            password="!", email_verified_at=now,
        )
        for number in range(count)
    )  # fmt: skip
    far = now + timedelta(days=7)
    sessions = Session.objects.bulk_create(Session(user=user, token_expires_at=far, expires_at=far) for user in rows)
    Device.objects.bulk_create(
        Device(user=user, session=session, registration_id=uuid.uuid4().hex, token_digest=uuid.uuid4().hex)
        for user, session in zip(rows, sessions, strict=True)
    )
    # A few blocks between others: PostgreSQL plans an empty table as if looking through it cost nothing.
    Block.objects.bulk_create(Block(blocker=rows[n], blocked=rows[n + 2]) for n in range(count // 10))
    return rows


def events(users: list[User], count: int) -> list[Notification]:
    return Notification.objects.bulk_create(
        Notification(
            recipient=users[number % len(users)],
            actor=users[(number + 1) % len(users)],
            kind="comment",
            group_key=f"post:{number}",
            target_id=number,
            count=1,
        )
        for number in range(count)
    )


def measure_enqueue(rows: list[Notification]) -> float:
    begun = time.perf_counter()
    for row in rows:
        delivery.enqueue_push(recipient_id=row.recipient_id, notification_id=row.id)
    return len(rows) / (time.perf_counter() - begun)


def measure_drain(count: int) -> float:
    instant = Instant()
    push_handler.push_channel = lambda: instant  # type: ignore[assignment]
    stopped = threading.Event()
    thread = threading.Thread(target=supervisor.run, args=(stopped,))
    begun = time.perf_counter()
    thread.start()
    try:
        while instant.count < count:
            time.sleep(0.002)
        while Delivery.objects.exclude(state="sent").exists():
            time.sleep(0.002)
        return count / (time.perf_counter() - begun)
    finally:
        stopped.set()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--enqueue", type=int, default=1_000, help="events queued one by one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # With DEBUG Django keeps every statement.
    settings.DEBUG = False
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = f"{SCRATCH}/benchmark.sqlite3"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        users = people(1000)
        enqueue = measure_enqueue(events(users, options.enqueue))
        Delivery.objects.all().delete()
        Notification.objects.all().delete()
        rows = events(users, options.rows)
        now = timezone.now()
        devices = dict(Device.objects.values_list("user_id", "id"))
        Delivery.objects.bulk_create(
            [
                Delivery(
                    channel="push", kind=row.kind, dedupe_key=f"b:{row.id}", group_key=f"comment:{row.group_key}",
                    priority=3, recipient_id=row.recipient_id, device_id=devices[row.recipient_id],
                    notification=row, expires_at=now + timedelta(hours=1),
                )
                for row in rows
            ],
            batch_size=1000,
        )  # fmt: skip
        database.settle()
        cpu = time.process_time()
        drain = measure_drain(options.rows)
        cpu = time.process_time() - cpu
    finally:
        connection.creation.destroy_test_db(settings.DATABASES["default"]["NAME"], verbosity=0)
        shutil.rmtree(SCRATCH, ignore_errors=True)
    result = {
        "database": connection.vendor,
        "enqueue_per_second": round(enqueue),
        "drain_per_second": round(drain),
        # On a busy machine this says more than the rate: the worker's own time for a row.
        "drain_cpu_us_per_row": round(cpu / options.rows * 1e6),
        "rows": options.rows,
    }
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<22} {value}")


if __name__ == "__main__":
    main()
