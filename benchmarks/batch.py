"""python -m benchmarks.batch: rows per second and memory of the jobs that go through whole tables.

`manage.py purge_expired` and `manage.py export_user` in processes of their own, with a tenth of the rows and with all
of them, each on a new database. All are: N deliveries, rows of a feed, events of the log and cleared messages to
delete, and a conversation of N messages to export. Needs PostgreSQL (BENCH_DATABASE_URL) and Redis (BENCH_REDIS_URL).
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from benchmarks import database
from benchmarks.growth import copies, delivery
from benchmarks.http import environment
from benchmarks.report import show
from benchmarks.servers import ROOT

# A rate or a peak of memory may differ this much between a tenth of the rows and all of them.
GOAL = 1.2
EVENTS_OF_ONE = 1_000
LONG_AGO = "now() - interval '1 year'"


@dataclass(frozen=True, slots=True)
class Run:
    rows: int
    seconds: float
    megabytes: float


def prepare(size: int) -> int:
    """Fills the database; the id of the user to export."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from accounts.services.registration import create_user
    from messaging.models import Participant
    from messaging.services import conversations
    from notifications.models import Notification

    call_command("migrate", verbosity=0)
    one, other, third = (
        create_user(email=f"{n}@example.com", password=None, first_name="Bench", verified=True) for n in range(3)
    )
    kept, cleared = (conversations.start(starter=one, user_id=user.id)[0].id for user in (third, other))
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        with database.without_text_index(cursor):
            cursor.execute(database.FILL, [cleared, other.id, size])
            cursor.execute("SELECT max(id) FROM messaging_message")
            newest = cursor.fetchone()[0]
            cursor.execute(database.FILL, [kept, third.id, size])
    Participant.objects.filter(conversation_id=cleared).update(cleared_up_to_id=newest)
    row = Notification.objects.create(recipient=other, actor=one, kind="comment", is_open=False, target_id=1)
    copies(row, size, target_id="n", created_at=LONG_AGO)
    copies(delivery("sent", finished=True), size, dedupe_key="'sent-' || n", finished_at=LONG_AGO)
    _fill_log(third, size)
    database.settle()
    connection.close()
    return int(one.id)


def _fill_log(user: Any, size: int) -> None:
    """Old events, at most EVENTS_OF_ONE for each of as many copies of the user as that takes."""
    from django.contrib.auth import get_user_model

    from realtime.models import Event, Stream

    users = -(-size // EVENTS_OF_ONE)
    name = "'copy-' || n"
    copies(user, users, email=f"{name} || '@example.com'", username=name, username_folded=name)
    ids = get_user_model().objects.filter(username__startswith="copy-").values_list("id", flat=True)
    Stream.objects.bulk_create(Stream(user_id=user_id, head_seq=EVENTS_OF_ONE) for user_id in ids)
    first = Event.objects.create(user=user, seq=0, type="test")
    for number, user_id in enumerate(ids):
        count = min(EVENTS_OF_ONE, size - number * EVENTS_OF_ONE)
        copies(first, count, user_id=str(user_id), seq="n", created_at=LONG_AGO)


def run(command: list[str], rows: int, env: dict[str, str]) -> Run:
    """Runs `manage.py …`; its time, and the most memory that it took."""
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, "manage.py", *command], cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"manage.py {' '.join(command)} failed.")
    return Run(rows, time.perf_counter() - begun, used.ru_maxrss / 1024)


def measure(size: int) -> dict[str, Run]:
    """Both jobs on a new database of this size, which a process of its own fills."""
    with database.empty_database() as url:
        env = os.environ | {"DATABASE_URL": url, "BENCH_DATABASE_URL": url}
        command = [sys.executable, "-m", "benchmarks.batch", "--fill", str(size)]
        filled = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
        return {
            "export_user": run(["export_user", filled.stdout.strip()], size, env),
            "purge_expired": run(["purge_expired"], size * 4, env),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        print(prepare(options.fill))
        return
    # Set once, for all processes; each size has a database of its own.
    os.environ |= {name: value for name, value in environment().items() if name != "DATABASE_URL"}
    small, large = measure(options.rows // 10), measure(options.rows)
    rows: list[dict[str, Any]] = []
    for job, after in large.items():
        before = small[job]
        pace = (after.seconds / after.rows) / (before.seconds / before.rows)
        rows += [
            {"work": f"Batch {job}: rows/s of {after.rows:,}", "measured": round(after.rows / after.seconds), "goal": None},
            {"work": f"Batch {job}: time of a row beside a tenth of the rows", "measured": round(pace, 2), "goal": GOAL},
            {"work": f"Batch {job}: memory beside a tenth of the rows",
             "measured": round(after.megabytes / before.megabytes, 2), "goal": GOAL, "mb": round(after.megabytes)},
        ]  # fmt: skip
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
