"""The rate of queueing and sending deliveries, with a channel that takes no time.

    python -m benchmarks.delivery [--rows N] [--json]

Runs on the database that DATABASE_URL names, in a database of its own beside it; on SQLite in a
scratch file. Measures pushes queued one event at a time (each with its own commit), and the rate at
which one worker, and on PostgreSQL two, claim, check, render, hand over and finish them.
"""

import argparse
import json
import multiprocessing
import time
import uuid
from datetime import timedelta
from statistics import median
from typing import Any

from benchmarks import database

database.set_up()

from django.db import connection
from django.utils import timezone

from accounts.models import Block, Session, User
from notifications.channels import Outcome, PushChannel, Sent
from notifications.models import Delivery, Device, Notification
from notifications.services import delivery
from notifications.services.delivery import push_handler, supervisor


class Instant(PushChannel):
    """A push service that accepts everything immediately."""

    def send(self, message: dict[str, Any], *, dry_run: bool = False) -> Outcome:
        return Sent("instant")


def people(count: int) -> list[User]:
    now = timezone.now()
    rows = User.objects.bulk_create(
        User(
            email=f"p{number}@example.com", username=f"p{number}", first_name="Pat", last_name="Example",
            username_folded=f"p{number}",
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


def queue(rows: list[Notification]) -> None:
    """A push for each row, all of them due."""
    expires_at = timezone.now() + timedelta(hours=1)
    devices = dict(Device.objects.values_list("user_id", "id"))
    Delivery.objects.all().delete()
    Delivery.objects.bulk_create(
        [
            Delivery(
                channel="push", kind=row.kind, dedupe_key=f"b:{row.id}", group_key=f"comment:{row.group_key}",
                priority=3, recipient_id=row.recipient_id, device_id=devices[row.recipient_id],
                notification=row, expires_at=expires_at,
            )
            for row in rows
        ],
        batch_size=1000,
    )  # fmt: skip
    database.settle()


def work(stopped: Any) -> None:
    """A worker's process, until `stopped` is set."""
    instant = Instant()
    push_handler.push_channel = lambda: instant
    supervisor.run(stopped)


def measure_drain(rows: list[Notification], workers: int) -> tuple[float, float, float]:
    """Rows a second by this many processes, and the CPU seconds of these and of their connections in PostgreSQL."""
    queue(rows)
    connection.close()
    fork = multiprocessing.get_context("fork")
    stopped = fork.Event()
    processes = [fork.Process(target=work, args=(stopped,)) for _ in range(workers)]
    cpu = database.cpu_of_children()
    begun = time.perf_counter()
    for process in processes:
        process.start()
    while Delivery.objects.exclude(state="sent").exists():
        time.sleep(0.02)
    taken = time.perf_counter() - begun
    in_database = database.cpu_seconds_of_connections()
    stopped.set()
    for process in processes:
        process.join()
    return len(rows) / taken, database.cpu_of_children() - cpu, in_database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3, help="of the queue, by one worker and by two in turns")
    parser.add_argument("--enqueue", type=int, default=1_000, help="events queued one by one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with database.scratch_database():
        users = people(1000)
        enqueue = measure_enqueue(events(users, options.enqueue))
        Delivery.objects.all().delete()
        Notification.objects.all().delete()
        rows = events(users, options.rows)
        alone, pairs = [], []
        for _ in range(options.rounds):
            alone.append(measure_drain(rows, workers=1))
            # SQLite has one worker at a time.
            if connection.vendor == "postgresql":
                pairs.append(measure_drain(rows, workers=2)[0])
        drain, cpu, in_database = (median(values) for values in zip(*alone, strict=True))
        beside = median(two / one for two, (one, *_) in zip(pairs, alone, strict=True)) if pairs else None
    result = {
        "database": connection.vendor,
        "enqueue_per_second": round(enqueue),
        "drain_per_second": round(drain),
        # On a busy machine this says more than the rate: the worker's own time for a row.
        "drain_cpu_us_per_row": round(cpu / options.rows * 1e6),
        "drain_database_cpu_us_per_row": round(in_database / options.rows * 1e6),
        "two_workers_beside_one": beside and round(beside, 2),
        "rows": options.rows,
    }
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<30} {value}")


if __name__ == "__main__":
    main()
