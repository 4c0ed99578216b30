"""python -m benchmarks.http: sending, listing and small reads against a bare Django view, on PostgreSQL.

All servers run side by side and are measured in turns, so that whatever else the machine does meets
all of them. Needs PostgreSQL (BENCH_DATABASE_URL, an empty database) and Redis (BENCH_REDIS_URL).
"""

import argparse
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import load
from benchmarks.database import DATABASE_URL
from benchmarks.servers import Server, database_cpu_seconds, granian

REDIS_URL = os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1:6379/0")
CONVERSATIONS = 16
LISTED = 51


@dataclass
class Work:
    """One operation on four servers: the requests to Parley, to the bare view, to the lower bound and to the usual stack,
    and the goals."""

    name: str
    ours: Callable[[int], bytes]
    bare: Callable[[int], bytes]
    least: Callable[[int], bytes]
    usual: Callable[[int], bytes] | None
    expect: bytes
    clients: int
    goal: float  # requests per second, ours / bare
    cpu_goal: float | None = None  # of the server and PostgreSQL together, ours / bare
    usual_goal: float | None = None  # requests per second, ours / the usual stack


def environment() -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": DATABASE_URL,
        "REDIS_URL": REDIS_URL,
        "VAR_DIR": tempfile.mkdtemp(prefix="parley-bench-"),
        "CHANNEL_PREFIX": f"bench-{secrets.token_hex(4)}",
        "RATELIMIT_ENABLE": "0",
        "DEBUG": "0",
        "SITE_URL": "http://127.0.0.1",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "TOKEN_KEYS": f"bench:{secrets.token_urlsafe(48)}",
        "LOG_LEVEL": "WARNING",
    }


def prepare() -> dict[str, list]:
    """Pairs of users with a conversation each: their tokens and conversation ids."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection

    from accounts.services import registration
    from accounts.sign_in import sessions
    from benchmarks import bare, database, lower_bound, usual
    from messaging.services import conversations, messages

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(bare.TABLES + lower_bound.TABLES + usual.TABLES)
    run = secrets.token_hex(4)
    for number in range(CONVERSATIONS * 2):
        registration.create_user(
            email=f"{run}-{number}@example.com", password=None, first_name="Bench", last_name="Mark", verified=True
        )
    people = list(get_user_model().objects.filter(email__startswith=run).order_by("id"))
    tokens, ids = [], []
    pairs = list(zip(people[::2], people[1::2], strict=True))
    for one, other in pairs:
        conversation_id = conversations.start(starter=one, user_id=other.id)[0].id
        tokens.append(sessions.start(user=one)[1])
        ids.append(conversation_id)
        for number in range(60):
            messages.send(sender=one, conversation_id=conversation_id, body=f"message {number}")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO bare_message (conversation_id, sender_id, body)"
            " SELECT c, %s, 'message ' || n FROM generate_series(1, 60) n, generate_series(1, 64) c",
            [people[0].id],
        )
    usual_tokens = usual.prepare(pairs)
    reader = _prepare_list(run)
    database.settle()
    connection.close()
    return {
        "tokens": tokens,
        "conversations": ids,
        "bare": [bare.token()],
        "usual": usual_tokens,
        "reader": [reader.id, sessions.start(user=reader)[1]],
    }


def _prepare_list(run: str) -> Any:
    """A user with a long list of conversations, in Parley's tables and in those of the bare view."""
    from django.db import connection

    from accounts.services import registration
    from messaging.services import conversations, messages

    def create(name: str) -> Any:
        address = f"{run}-{name}@example.com"
        return registration.create_user(
            email=address, password=None, first_name="Bench", last_name="Mark", verified=True
        )

    reader = create("reader")
    for number in range(1000, 1000 + LISTED):
        other = create(f"listed-{number}")
        conversation_id = conversations.start(starter=other, user_id=reader.id)[0].id
        messages.send(sender=other, conversation_id=conversation_id, body="the last message")
        with connection.cursor() as cursor:
            cursor.execute(
                "WITH last AS (INSERT INTO bare_message (conversation_id, sender_id, body)"
                " VALUES (%s, %s, 'the last message') RETURNING id)"
                " INSERT INTO bare_listed SELECT %s, %s, %s, 1, id FROM last",
                [number, other.id, reader.id, number, other.id],
            )
    return reader


def works(world: dict[str, list]) -> Iterator[Work]:
    tokens, ids, bare_token = world["tokens"], world["conversations"], world["bare"][0]
    body = json.dumps({"body": "hello there, how are you?"}).encode()

    def ours(method: str, path: str, payload: bytes = b"") -> Callable[[int], bytes]:
        ready = [load.request(method, path.format(ids[n]), token=tokens[n], body=payload) for n in range(CONVERSATIONS)]
        return lambda client: ready[client % CONVERSATIONS]

    def others(method: str, path: str, payload: bytes = b"") -> list[Callable[[int], bytes]]:
        """The same request to the bare view, to the lower bound and to the usual stack."""

        def to(tokens: list[str]) -> Callable[[int], bytes]:
            ready = [
                load.request(method, path.format(n + 1), token=token, body=payload) for n, token in enumerate(tokens)
            ]
            return lambda client: ready[client % CONVERSATIONS]

        return [to([bare_token] * CONVERSATIONS), to(tokens), to(world["usual"])]

    messages = "/api/v1/messages/conversations/{}/messages"
    unread = "/api/v1/notifications/unread-count"
    yield Work("P1 send", ours("POST", messages, body), *others("POST", "/c/{}/send", body), b"201", 16, 0.60, 2.2, 2)
    yield Work("P2 list 50", ours("GET", messages), *others("GET", "/c/{}/messages"), b"200", 8, 0.70)
    yield _list_of_conversations(world)
    yield Work("P6 me", ours("GET", "/api/v1/auth/me"), *others("GET", "/me"), b"200", 8, 0.33, 3)
    yield Work("P6 unread", ours("GET", unread), *others("GET", "/unread"), b"200", 8, 0.33, 3)


def _list_of_conversations(world: dict[str, list]) -> Work:
    user_id, token = world["reader"]

    def to(path: str, token: str) -> Callable[[int], bytes]:
        ready = load.request("GET", path, token=token)
        return lambda client: ready

    return Work(
        "P2 conversations 50",
        to("/api/v1/messages/conversations?limit=50", token),
        to(f"/u/{user_id}/conversations", world["bare"][0]),
        to(f"/u/{user_id}/conversations", token),
        None,
        b"200",
        8,
        0.60,
    )


def measure(who: str, server: Server, make: Callable[[int], bytes], work: Work, seconds: float) -> dict[str, float]:
    cpu = server.cpu_seconds() + database_cpu_seconds(DATABASE_URL)
    result = load.run(server.port, make, clients=work.clients, seconds=seconds, expect=work.expect)
    if result.wrong:
        raise SystemExit(f"{work.name}: {result.wrong} answers of '{who}' were {result.last_wrong}")
    used = server.cpu_seconds() + database_cpu_seconds(DATABASE_URL) - cpu
    return {
        "per_second": result.per_second,
        "p50_ms": result.p50,
        "p95_ms": result.percentile(0.95),
        "cpu_us": used / max(1, len(result.times)) * 1e6,
    }


def compare(servers: dict[str, Server], work: Work, *, rounds: int, seconds: float) -> dict[str, Any]:
    """Medians of interleaved rounds, after a short warm-up of all servers."""
    requests = {"ours": work.ours, "bare": work.bare, "least": work.least}
    if work.usual is not None:
        requests["usual"] = work.usual
    for who, make in requests.items():
        measure(who, servers[who], make, work, 1)
    turns = [
        {who: measure(who, servers[who], make, work, seconds) for who, make in requests.items()} for _ in range(rounds)
    ]
    row: dict[str, Any] = {"work": work.name, "goal": work.goal, "cpu_goal": work.cpu_goal}
    for who in requests:
        row |= {f"{who}_{key}": round(median(turn[who][key] for turn in turns), 1) for key in turns[0][who]}
    for who, prefix in (("ours", ""), ("least", "least_")):
        for name, key in (("ratio", "per_second"), ("cpu_ratio", "cpu_us")):
            row[prefix + name] = round(median(turn[who][key] / turn["bare"][key] for turn in turns), 2)
    if work.usual is not None:
        usual_ratios = [turn["ours"]["per_second"] / turn["usual"]["per_second"] for turn in turns]
        row |= {"usual_ratio": round(median(usual_ratios), 2), "usual_goal": work.usual_goal}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    env = environment()
    os.environ |= env
    world = prepare()
    rows = []
    with (
        granian("config.wsgi:application", env=env) as ours,
        granian("benchmarks.bare:application", env=env | {"BARE_SERVER": "1"}) as bare,
        granian("benchmarks.lower_bound:application", env=env | {"LOWER_BOUND_SERVER": "1"}) as least,
        granian("benchmarks.usual:application", env=env | {"USUAL_SERVER": "1"}) as usual,
    ):
        servers = {"ours": ours, "bare": bare, "least": least, "usual": usual}
        for work in works(world):
            rows.append(compare(servers, work, rounds=options.rounds, seconds=options.seconds))
            print(f"{work.name}: {rows[-1]['ratio']} of the bare view", file=sys.stderr)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'':20}{'ratio':>7}{'bound':>7}{'goal':>6}{'req/s':>9}{'bare':>9}{'p50':>7}{'p95':>7}", end="")
    print(f"{'CPU µs':>8}{'bare':>7}{'ratio':>7}{'bound':>7}{'usual':>7}")
    for row in rows:
        print(
            f"{row['work']:20}{row['ratio']:7}{row['least_ratio']:7}{row['goal']:6}{row['ours_per_second']:9}"
            f"{row['bare_per_second']:9}{row['ours_p50_ms']:7}{row['ours_p95_ms']:7}{row['ours_cpu_us']:8}"
            f"{row['bare_cpu_us']:7}{row['cpu_ratio']:7}{row['least_cpu_ratio']:7}{row.get('usual_ratio', '–'):>7}"
        )


if __name__ == "__main__":
    main()
