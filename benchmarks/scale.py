"""python -m benchmarks.scale: do lists, counters and search stay as fast with a million rows?

The same reads of a conversation of 1,000 and of one of 1,000,000 messages, in turns, in one process with
one connection. Needs an empty PostgreSQL database (BENCH_DATABASE_URL). `--plans` prints the plans too.
"""

import argparse
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmarks.http import environment

SMALL = 1_000

# Every second text is common, one in a hundred thousand is rare; the rest is noise for the index.
FILL = """
INSERT INTO messaging_message (conversation_id, sender_id, kind, body, body_folded, call_media, call_outcome,
                               request_digest, counts_as_unread, created_at)
SELECT %s, %s, 'text', t, t, '', '', '', true, now() FROM generate_series(1, %s) n,
LATERAL (SELECT md5(n::text) || CASE WHEN n %% 100000 = 7 THEN ' needle' WHEN n %% 2 = 0 THEN ' common' ELSE '' END
         AS t) texts
"""


@contextmanager
def without_text_index(cursor: Any) -> Iterator[None]:
    """Builds the text index once after the block, instead of entry by entry in it."""
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'messaging_message' AND indexdef ~ 'USING gin'"
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, definition in indexes:
        cursor.execute(definition)


def prepare(rows: int) -> dict[int, tuple[Any, int]]:
    """A user and a conversation by the number of messages in it."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from accounts.services.registration import create_user
    from benchmarks import database
    from messaging.models import Message, Participant
    from messaging.services import conversations

    call_command("migrate", verbosity=0)
    run = secrets.token_hex(4)
    made: dict[int, tuple[Any, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        with without_text_index(cursor):
            for size in (SMALL, rows):
                one, other = (
                    create_user(email=f"{run}-{size}-{n}@example.com", password=None, first_name="Scale", verified=True)
                    for n in range(2)
                )
                number = conversations.start(starter=one, user_id=other.id)[0].id
                cursor.execute(FILL, [number, other.id, size])
                newest = Message.objects.filter(conversation_id=number).order_by("-id").values_list("id", flat=True)[0]
                Participant.objects.filter(conversation_id=number).update(last_message_id=newest, activity_id=newest)
                Participant.objects.filter(conversation_id=number, user=one).update(unread_count=size)
                made[size] = one, number
        database.settle()
    return made


def works(person: Any, conversation_id: int) -> dict[str, tuple[Callable[[], Any], float]]:
    """What is read, and how many times longer it may take in the large conversation."""
    from messaging import selectors
    from messaging.models import Message
    from messaging.selectors.search import search_page
    from messaging.services.storage import newest_visible_id

    ids = Message.objects.filter(conversation_id=conversation_id).order_by("-id").values_list("id", flat=True)
    middle = ids[500]
    page = {"user_id": person.id, "conversation_id": conversation_id, "limit": 50}

    def search(word: str) -> Callable[[], Any]:
        return lambda: search_page(**{**page, "limit": 20}, folded=word)

    return {
        "P3 newest": (lambda: selectors.message_page(**page), 1.2),
        "P3 before": (lambda: selectors.message_page(**page, before=middle), 1.2),
        "P3 conversations": (lambda: selectors.conversation_page(user_id=person.id, limit=30), 1.2),
        "P3 unread": (lambda: selectors.message_unread_count(person.id), 1.2),
        "P3 last message": (lambda: newest_visible_id(conversation_id, 0), 1.2),
        "P4 rare word": (search("needle"), 3),
        "P4 absent word": (search("absent"), 3),
        "P4 common word": (search("common"), 4),
        "P4 two letters": (search("zq"), 4),
    }


def seconds_of(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def compare(made: dict[int, tuple[Any, int]], rounds: int) -> list[dict[str, Any]]:
    small, large = (works(*made[size]) for size in made)
    answers = []
    for name, (run, goal) in large.items():
        for _ in range(8):  # long enough for prepared statements to settle on a plan
            run(), small[name][0]()
        pairs = [(seconds_of(small[name][0]), seconds_of(run)) for _ in range(rounds)]
        before, after = (median(times) for times in zip(*pairs, strict=True))
        answers.append(
            {
                "work": name,
                "small_ms": round(before, 2),
                "large_ms": round(after, 2),
                "ratio": round(after / before, 2),
                "goal": goal,
            }
        )
    return answers


def plans(made: dict[int, tuple[Any, int]]) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for name, (run, _) in works(*made[max(made)]).items():
        with CaptureQueriesContext(connection) as captured:
            run()
        for query in captured.captured_queries:
            print(f"\n{name}")
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN (ANALYZE, BUFFERS) " + query["sql"].replace("%", "%%"), [])
                print("\n".join(line for (line,) in cursor.fetchall()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ |= environment()
    made = prepare(options.rows)
    answers = compare(made, options.rounds)
    if options.json:
        print(json.dumps(answers, indent=2))
    else:
        print(f"{'':18}{SMALL:>9,}{options.rows:>12,}{'ratio':>8}{'goal':>6}")
        for row in answers:
            print(f"{row['work']:18}{row['small_ms']:7} ms{row['large_ms']:9} ms{row['ratio']:8}{row['goal']:6}")
    if options.plans:
        plans(made)


if __name__ == "__main__":
    main()
