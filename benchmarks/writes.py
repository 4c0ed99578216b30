"""python -m benchmarks.writes: what a send writes, on tables with many updated rows.

Counts, not times: statements, index entries, and the share of updates that PostgreSQL could make in place
(HOT). 100,000 messages lie there before, and half of the sends that follow are read; then it is counted while
people only send, for what is read leaves an index. Needs an empty PostgreSQL database (BENCH_DATABASE_URL).
"""

import argparse
import os
import random
import secrets
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import connection

from benchmarks.report import show

CONVERSATIONS = 1_000
HOT_TABLES = ("messaging_participant", "realtime_stream", "notifications_notification")

_FILL = """
INSERT INTO messaging_message (conversation_id, sender_id, kind, body, body_folded, call_media, call_outcome,
                               request_digest, counts_as_unread, created_at)
SELECT c.id, c.user_low_id, 'text', t, t, '', '', '', true, now()
FROM generate_series(1, %s) n, messaging_conversation c, LATERAL (SELECT md5((n * c.id)::text) AS t) texts
"""


class Written(NamedTuple):
    """Rows of a table that were written since the server started."""

    inserted: int
    updated: int
    hot: int


def written() -> dict[str, Written]:
    """By table. Outside of a transaction: the server adds up what its sessions did when they have committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables")
        return {name: Written(*counts) for name, *counts in cursor.fetchall()}


def index_entries(act: Callable[[], Any]) -> dict[str, int]:
    """What `act` adds to indexes, by table: an entry in each index for every row that was inserted, or
    updated otherwise than in place. Partial indexes count where they hold the newest row."""
    before = written()
    act()
    entries = {}
    for table, now in written().items():
        then = before.get(table, Written(0, 0, 0))
        rows = (now.inserted - then.inserted) + (now.updated - then.updated) - (now.hot - then.hot)
        if rows:
            entries[table] = rows * _indexes_of_newest_row(table)
    return entries


def _indexes_of_newest_row(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(pg_get_expr(indpred, indrelid), 'true') FROM pg_index WHERE indrelid = %s::regclass",
            [table],
        )
        conditions = [f"({condition})::int" for (condition,) in cursor.fetchall()]
        cursor.execute(f'SELECT {" + ".join(conditions)} FROM "{table}" ORDER BY 1 - 1, {_key(table)} DESC LIMIT 1')
        return int(cursor.fetchone()[0])


def _key(table: str) -> str:
    with connection.cursor() as cursor:
        return str(connection.introspection.get_primary_key_column(cursor, table))


def people(run: str) -> list[tuple[Any, int]]:
    """A sender and a conversation each; the others have a phone that takes pushes."""
    from accounts.services import registration
    from messaging.services import conversations

    made = []
    for number in range(CONVERSATIONS):
        one, other = (
            registration.create_user(
                email=f"{run}-{number}-{side}@example.com", password=None, first_name="Bench", verified=True
            )
            for side in range(2)
        )
        add_phone(other)
        made.append((one, other, conversations.start(starter=one, user_id=other.id)[0].id))
    return made


def add_phone(user: Any) -> None:
    """A device of this user that takes pushes."""
    from accounts.sign_in import sessions
    from notifications.models import Device

    session, _token = sessions.start(user=user)
    Device.objects.create(user=user, session=session, registration_id=uuid.uuid4().hex, token_digest=uuid.uuid4().hex)


def live(made: list[Any], sends: int, *, read: float) -> None:
    from messaging.services import conversations, messages

    chance = random.Random(1)
    for number in range(sends):
        one, other, conversation_id = chance.choice(made)
        messages.send(sender=one, conversation_id=conversation_id, body=f"message {number}")
        if chance.random() < read:
            conversations.mark_read(reader_id=other.id, conversation_id=conversation_id)


def measure(messages_before: int, sends: int) -> list[dict[str, Any]]:
    from django.test.utils import CaptureQueriesContext

    from benchmarks import database
    from messaging.services import messages

    made = people(secrets.token_hex(4))
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_FILL, [max(1, messages_before // CONVERSATIONS)])
    live(made, sends, read=0.5)
    database.settle()
    before = written()
    live(made, sends, read=0)
    after = written()
    rows: list[dict[str, Any]] = []
    for table in HOT_TABLES:
        updated = after[table].updated - before[table].updated
        share = (after[table].hot - before[table].hot) / max(1, updated)
        rows.append({"work": f"P13 {table}: share of updates in place", "measured": round(share, 3), "goal": 0.9})
    one, _other, conversation_id = made[0]

    def send() -> None:
        messages.send(sender=one, conversation_id=conversation_id, body="hello", client_id=uuid.uuid4().hex)

    send()
    entries = index_entries(send)
    rows.append({"work": "P13 index entries of a send", "measured": sum(entries.values()), "goal": 14} | entries)
    with CaptureQueriesContext(connection) as captured:
        send()
    rows.append({"work": "P1 statements of a send, BEGIN and COMMIT too", "measured": len(captured), "goal": 8})
    return rows


def main() -> None:
    from benchmarks.http import environment

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--sends", type=int, default=5_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ |= environment()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    rows = measure(options.messages, options.sends)
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
