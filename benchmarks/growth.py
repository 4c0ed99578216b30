"""python -m benchmarks.growth: what an operation costs in a database of 1,000 to 1,000,000 rows.

A process and a database for each size; all are measured in turns. Cost is the CPU of the thread and of its PostgreSQL
backend, which other work on the machine changes less than time. A database of N has a conversation of N messages,
N rows in the feeds of others, N deliveries that were sent, and N / 10 conversations of others. The phone of the
recipient has had a push of the conversation every minute: N, at most those of the days that the log keeps.
Needs PostgreSQL on this machine (BENCH_DATABASE_URL). `--svg FILE` draws the plot of docs/sizing.md.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import database
from benchmarks.http import environment
from benchmarks.plot import svg
from benchmarks.report import show
from benchmarks.servers import ROOT
from benchmarks.writes import add_phone

SIZES = (1_000, 100_000, 1_000_000)
USERS = 600
OWN_CONVERSATIONS = 50
OWN_FEED = 200
BATCH = 100
GOAL = 1.2


def copies(row: Any, count: int, **changes: str) -> None:
    """Inserts `count` copies of a row; `changes` are SQL expressions by column, in which n counts from 1."""
    from django.db import connection

    table, key = row._meta.db_table, row._meta.pk.column
    columns = [field.column for field in row._meta.concrete_fields if not field.primary_key]
    values = [changes.get(column, f't."{column}"') for column in columns]
    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{table}" ({names}) SELECT {", ".join(values)}'
            f' FROM "{table}" t, generate_series(1, %s) n WHERE t."{key}" = %s',
            [count, row.pk],
        )


def prepare(size: int) -> dict[str, Callable[[], Any]]:
    """Fills the database; the operations to measure."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection

    from accounts.services.registration import create_user
    from messaging.models import Message, Participant
    from messaging.services import conversations, messages
    from notifications.conf import conf
    from notifications.models import Delivery, Notification
    from notifications.services.delivery import claims

    call_command("migrate", verbosity=0)
    people = [create_user(email=f"{n}@example.com", password=None, first_name="Bench", verified=True) for n in range(3)]
    one, other, third = people
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    pattern = "'copy-' || n"
    copies(third, USERS * 3, email=f"{pattern} || '@example.com'", username=pattern, username_folded=pattern)
    others = get_user_model().objects.exclude(id__in=[person.id for person in people]).order_by("id")
    ids = list(others.values_list("id", flat=True))
    for user_id in ids[:OWN_CONVERSATIONS]:
        conversations.start(starter=one, user_id=user_id)
    talk = conversations.start(starter=one, user_id=other.id)[0].id
    with connection.cursor() as cursor:
        _fill_conversations(cursor, ids, size // 10)
        with database.without_text_index(cursor):
            cursor.execute(database.FILL, [talk, other.id, size])
    newest = Message.objects.filter(conversation_id=talk).order_by("-id").values_list("id", flat=True)[0]
    Participant.objects.filter(conversation_id=talk).update(last_message_id=newest, activity_id=newest)
    row = Notification.objects.create(recipient=third, actor=other, kind="comment", is_open=False, target_id=1)
    copies(row, size, target_id="n")
    copies(row, OWN_FEED, target_id="n", recipient_id=str(one.id))
    copies(delivery("sent", finished=True), size, dedupe_key="'sent-' || n", recipient_id=str(third.id))
    add_phone(other)
    messages.send(sender=one, conversation_id=talk, body="the first of a push every minute")
    pushed = Delivery.objects.get(recipient=other)
    claims.finish([row.result("sent", provider_id="bench") for row in claims.claim(channel="push", limit=1)])
    minutes = min(size, conf.LOG_DAYS * 24 * 60)
    copies(pushed, minutes, dedupe_key="'pushed-' || n", finished_at="now() - n * interval '1 minute'")
    database.settle()
    return _works(one, talk)


def _fill_conversations(cursor: Any, ids: list[int], count: int) -> None:
    """Conversations between other users, each with both participants."""
    pairs = list(itertools.islice(itertools.combinations(ids[OWN_CONVERSATIONS:], 2), count))
    cursor.execute(
        "WITH pair AS (SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS p(low, high)), made AS ("
        " INSERT INTO messaging_conversation (user_low_id, user_high_id, purged_up_to_id, created_at)"
        " SELECT low, high, 0, now() FROM pair RETURNING id, user_low_id, user_high_id)"
        " INSERT INTO messaging_participant (conversation_id, user_id, last_read_id, delivered_id, cleared_up_to_id,"
        " unread_count, activity_id, has_written, is_shown)"
        " SELECT id, user_id, 0, 0, 0, 0, id, true, true FROM made, unnest(ARRAY[user_low_id, user_high_id]) user_id",
        [[low for low, _ in pairs], [high for _, high in pairs]],
    )


def delivery(state: str, *, finished: bool = False) -> Any:
    from django.utils import timezone

    from notifications.models import Delivery

    now = timezone.now()
    return Delivery.objects.create(
        channel="push", kind="test", dedupe_key=f"first {state}", state=state, expires_at=now + timedelta(hours=1),
        finished_at=now if finished else None,
    )  # fmt: skip


def _works(person: Any, conversation_id: int) -> dict[str, Callable[[], Any]]:
    from messaging import selectors
    from messaging.models import Message
    from messaging.selectors.search import search_page
    from messaging.services import messages
    from notifications.selectors import feed_page
    from notifications.services.delivery import claims

    page = {"user_id": person.id, "conversation_id": conversation_id}
    middle = Message.objects.filter(conversation_id=conversation_id).order_by("-id").values_list("id", flat=True)[500]

    def drain() -> None:
        rows = claims.claim(channel="push", limit=BATCH)
        claims.finish([row.result("sent", provider_id="bench") for row in rows])

    return {
        "send": lambda: messages.send(sender=person, conversation_id=conversation_id, body="hello there"),
        "list": lambda: selectors.message_page(**page, limit=50),
        "older messages": lambda: selectors.message_page(**page, limit=50, before=middle),
        "unread count": lambda: selectors.message_unread_count(person.id),
        "conversations": lambda: selectors.conversation_page(user_id=person.id, limit=30),
        "search": lambda: search_page(**page, limit=20, folded="common"),
        "search in vain": lambda: search_page(**page, limit=20, folded="absent"),
        "feed": lambda: feed_page(viewer_id=person.id, limit=20),
        f"drain of {BATCH}": drain,
    }


def cost(run: Callable[[], Any]) -> float:
    """Milliseconds of CPU: this thread, and its backend in PostgreSQL."""
    from django.db import connection

    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    before = int(backend.read_text().split()[0]) + time.thread_time_ns()
    run()
    return (int(backend.read_text().split()[0]) + time.thread_time_ns() - before) / 1e6


def answer(size: int) -> None:
    """The process of one size: a line of costs for each line that it is given."""
    works = prepare(size)
    pending = delivery("dead")
    number = itertools.count()
    print("ready", flush=True)
    for _ in sys.stdin:
        copies(pending, BATCH, dedupe_key=f"'pending-{next(number)}-' || n", state="'pending'")
        print(json.dumps({name: cost(run) for name, run in works.items()}), flush=True)


@contextmanager
def process(size: int) -> Iterator[subprocess.Popen[str]]:
    with database.empty_database() as url:
        env = os.environ | {"DATABASE_URL": url, "BENCH_DATABASE_URL": url}
        command = [sys.executable, "-m", "benchmarks.growth", "--answer", str(size)]
        with subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            try:
                yield child
            finally:
                child.kill()


def measure(sizes: list[int], rounds: int) -> dict[str, dict[int, float]]:
    """Milliseconds of CPU by operation and size: medians of rounds in turns, after some to settle plans."""
    found: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
    with ExitStack() as stack:
        children = {size: stack.enter_context(process(size)) for size in sizes}
        for size, child in children.items():
            assert child.stdout is not None
            if child.stdout.readline() != "ready\n":
                raise SystemExit(f"The database of {size:,} rows could not be filled.")
        for number in range(rounds + 8):
            for size, child in children.items():
                assert child.stdin is not None and child.stdout is not None
                child.stdin.write("\n")
                child.stdin.flush()
                costs = json.loads(child.stdout.readline())
                if number >= 8:
                    found[size].append(costs)
    return {name: {size: median(costs[name] for costs in found[size]) for size in sizes} for name in found[sizes[0]][0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--svg", metavar="FILE")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--answer", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.answer)
        return
    # Set once, for the processes of all sizes; each has a database of its own.
    os.environ |= {name: value for name, value in environment().items() if name != "DATABASE_URL"}
    costs = measure([int(size) for size in options.sizes.split(",")], options.rounds)
    if options.svg:
        Path(options.svg).write_text(svg(costs, goal=GOAL))
    rows = [
        {
            "work": f"P3 {name}: CPU at {size:,} rows beside {min(by_size):,}",
            "measured": round(by_size[size] / by_size[min(by_size)], 2),
            "goal": GOAL,
            "ms": round(by_size[size], 2),
        }
        for name, by_size in costs.items()
        for size in sorted(by_size)[1:]
    ]
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
