"""python -m benchmarks.sockets: idle sockets, opening, relaying, receiving after a POST, and many clients that
reconnect at once, against a bare Channels consumer and a bare ASGI application in the same run.

Needs PostgreSQL (BENCH_DATABASE_URL, an empty database) and Redis (BENCH_REDIS_URL).
"""

import argparse
import asyncio
import json
import os
import resource
import secrets
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median
from typing import NamedTuple

import httpx
from websockets.asyncio.client import connect

from benchmarks import bare, load
from benchmarks.http import environment
from benchmarks.report import show
from benchmarks.servers import ROOT, Server, free_port, granian, running
from benchmarks.socket_clients import Wired, open_many, relay_bare, relay_ours
from benchmarks.socket_goals import rows_of

PAIRS = 32


class Servers(NamedTuple):
    ours: Server
    relays: Server  # the bare consumers
    http: Server
    bare_http: Server


def uvicorn(target, env):
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port), "--ws", "websockets-sansio",
        "--ws-per-message-deflate", "false", "--lifespan", "off", "--no-access-log", "--log-level", "error", target,
    ]  # fmt: skip
    return running(command, port, env)


def serve(env):
    """The process for sockets, as deploy/ starts it."""
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--no-deliver", "--port", str(port)]
    return running(command, port, env)


def prepare(sockets):
    """Pairs of users with a conversation each, and tokens for `sockets` sockets, ten per user."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection

    from accounts.services import registration
    from accounts.sign_in import sessions
    from benchmarks import bare, database
    from messaging.services import conversations

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(bare.TABLES)
    run = secrets.token_hex(4)
    for number in range(max(PAIRS * 2, sockets // 10)):
        address = f"{run}-{number}@example.com"
        registration.create_user(email=address, password=None, first_name="Bench", last_name="Mark", verified=True)
    people = list(get_user_model().objects.filter(email__startswith=run).order_by("id"))
    tokens = [sessions.start(user=person)[1] for person in people]
    ids = [
        conversations.start(starter=one, user_id=other.id)[0].id
        for one, other in list(zip(people[::2], people[1::2], strict=True))[:PAIRS]
    ]
    database.settle()
    connection.close()
    return {"tokens": tokens, "conversations": ids, "crowd": [tokens[n % len(tokens)] for n in range(sockets)]}


async def idle(server: Server, make, count):
    """What `count` open sockets cost; clients offer compression, as browsers do."""
    await asyncio.sleep(1)
    memory, cpu = server.memory_mb(), server.cpu_seconds()
    stack, opened, seconds = await open_many(make, count)
    await asyncio.sleep(2)
    result = {
        "mb_per_1000": round((server.memory_mb() - memory) * 1000 / count, 1),
        "opened_per_second": round(count / seconds),
        "cpu_us_each": round((server.cpu_seconds() - cpu) / count * 1e6),
    }
    await stack.aclose()
    return result


async def posted(http, world, clients, seconds):
    """The rate at which as many clients send messages over REST."""
    address = "/api/v1/messages/conversations/{}/messages"
    return await _posted(http, address, world["conversations"], world["tokens"][::2], clients, seconds)


async def posted_bare(http, clients, seconds):
    """The same to the bare view."""
    return await _posted(http, "/c/{}/send", range(1, 65), [bare.token()] * clients, clients, seconds)


async def _posted(http, address, ids, tokens, clients, seconds):
    body = json.dumps({"body": "hello there"}).encode()
    ready = [load.request("POST", address.format(ids[n]), token=tokens[n], body=body) for n in range(clients)]
    result = await load.run_async(http.port, ready.__getitem__, clients=clients, seconds=seconds, expect=b"201")
    return {"per_second": round(result.per_second), "p50_ms": round(result.p50, 2), "wrong": result.wrong}


async def cpu_of(servers, seconds, work):
    """What the awaitable `work` measured, with the CPU of the servers for each of its messages in ms."""
    before = sum(server.cpu_seconds() for server in servers)
    result = await work
    messages = result["per_second"] * seconds
    spent = sum(server.cpu_seconds() for server in servers) - before
    return result | {"cpu_ms": round(spent * 1000 / max(1, messages), 2)}


async def posted_to_sockets(http, ours, world, clients, seconds):
    """Messages over REST while the sockets of both users are open."""
    async with AsyncExitStack() as stack:
        tokens = world["tokens"][: 2 * clients]
        wired = [await stack.enter_async_context(Wired(ours, token)) for token in tokens]
        readers = [asyncio.ensure_future(one.until("never")) for one in wired]
        result = await cpu_of((http, ours), seconds, posted(http, world, clients, seconds))
        for reader in readers:
            reader.cancel()
    return result


async def after_post(http, server, world, seconds):
    """POST over HTTP, receipt on the other's socket: both counted from the start of the POST."""
    path = f"/api/v1/messages/conversations/{world['conversations'][0]}/messages"
    async with Wired(server, world["tokens"][1]) as wired:
        return await _after_post(http, path, world["tokens"][0], lambda: wired.until("message.new"), seconds)


async def after_bare_post(http, server, seconds):
    """The lower bound: the bare view publishes the message, and a bare ASGI application passes it on."""
    async with connect(f"ws://127.0.0.1:{server.port}/published?1") as socket:
        return await _after_post(http, "/c/1/publish", bare.token(), socket.recv, seconds)


async def _after_post(http, path, token, receive, seconds):
    posts, receipts = [], []
    address, headers = f"http://127.0.0.1:{http.port}{path}", {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient() as client:
        until = time.perf_counter() + seconds
        while (started := time.perf_counter()) < until:

            async def post(started=started):
                (await client.post(address, json={"body": "hello there"}, headers=headers)).raise_for_status()
                posts.append((time.perf_counter() - started) * 1000)

            async def receipt(started=started):
                await receive()
                receipts.append((time.perf_counter() - started) * 1000)

            await asyncio.gather(post(), receipt())
    receipts.sort()
    return {
        "post_p50_ms": round(median(posts), 2),
        "receipt_p50_ms": round(median(receipts), 2),
        "receipt_p99_ms": round(receipts[int(len(receipts) * 0.99)], 2),
    }


async def beside(http, path, token, crowd):
    """The p95 of a user of REST before and while the awaitable `crowd` runs, and its result."""

    @asynccontextmanager
    async def user():
        command = [sys.executable, "-m", "benchmarks.rest_user", f"http://127.0.0.1:{http.port}{path}", token]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=pipe, stdout=pipe)
        await asyncio.sleep(0.5)  # its start
        yield process
        await process.wait()

    async def p95(process):
        return float((await process.communicate(b""))[0])

    async with user() as process:
        await asyncio.sleep(2)
        quiet = await p95(process)
    async with user() as process:
        result = await crowd
        busy = await p95(process)
    return result | {"rest_p95_quiet_ms": quiet, "rest_p95_busy_ms": busy}


async def come_back(http, server, world, count):
    """`count` sockets resume at once while a user continues to use REST."""
    epochs = {}
    for token in set(world["crowd"][:count]):
        async with Wired(server, token) as wired:
            epochs[token] = {"epoch": wired.ready["epoch"], "seq": max(wired.ready["min_seq"], wired.ready["seq"] - 20)}
    synced, missing = [], 0

    async def one(token):
        nonlocal missing
        started = time.perf_counter()
        async with Wired(server, token, epochs[token]) as wired:
            seen = epochs[token]["seq"]
            while True:
                frame = json.loads(await wired.socket.recv())
                missing += "seq" in frame and frame["seq"] != seen + 1
                seen = frame.get("seq", seen)
                if frame["type"] == "synced":
                    synced.append((time.perf_counter() - started) * 1000)
                    missing += seen != frame["data"]["seq"]
                    return

    async def all_of_them():
        started = time.perf_counter()
        await asyncio.gather(*(one(token) for token in world["crowd"][:count]))
        return {
            "sockets": len(synced),
            "missing": missing,
            "all_synced_s": round(time.perf_counter() - started, 2),
            "synced_p50_ms": round(median(synced)),
        }

    return await beside(http, "/api/v1/auth/me", world["tokens"][0], all_of_them())


async def come_back_bare(http, server, count):
    """The lower bound: consumers that ask the database one question to open and one for a frame; the bare view."""

    async def one(number):
        async with connect(f"ws://127.0.0.1:{server.port}/checked?b{number}") as socket:
            await socket.send(json.dumps({"to": f"b{number}"}))
            await socket.recv()

    async def all_of_them():
        started = time.perf_counter()
        await asyncio.gather(*(one(number) for number in range(count)))
        return {"sockets": count, "all_synced_s": round(time.perf_counter() - started, 2)}

    return await beside(http, "/me", bare.token(), all_of_them())


async def measure(servers: Servers, world, options):
    ours, relays, http, bare_http = servers
    rows = {}

    def record(name, result):
        rows[name] = result
        print(name, result, file=sys.stderr)

    count, seconds = options.sockets, options.seconds
    record("idle ours", await idle(ours, lambda n: Wired(ours, world["crowd"][n]), count))
    # A separate process for each: memory that one run has freed would be available to the next.
    for path in ("channels", "bare"):
        with uvicorn("benchmarks.bare_sockets:application", dict(os.environ)) as alone:
            address = f"ws://127.0.0.1:{alone.port}/{path}"
            record(f"idle {path}", await idle(alone, lambda n, address=address: connect(f"{address}?i{n}"), count))
    for pairs in (1, PAIRS):
        for turn in range(options.rounds):
            label = f"{pairs} pairs, round {turn + 1}"
            for path, name in (
                ("bare", "bare"),
                ("channels", "channels"),
                ("core", "core layer"),
                ("checked", "checked"),
            ):
                record(f"relay {name}, {label}", await relay_bare(relays, path, pairs, seconds))
            record(f"typing ours, {label}", await relay_ours(ours, world, pairs, seconds, "typing"))
            sent = relay_ours(ours, world, pairs, seconds, "message.send")
            record(f"message ours, {label}", await cpu_of((ours,), seconds, sent))
            record(f"message rest, {label}", await posted(http, world, pairs, seconds))
            received = posted_to_sockets(http, ours, world, pairs, seconds)
            record(f"message rest to sockets, {label}", await received)
            record(f"message storing, {label}", await relay_bare(relays, "storing", pairs, seconds, replies=True))
            record(f"message bare rest, {label}", await posted_bare(bare_http, pairs, seconds))
    record("after a POST", await after_post(http, ours, world, seconds))
    record("after a bare POST", await after_bare_post(bare_http, relays, seconds))
    crowd = min(500, count)
    record("come back", await come_back(http, ours, world, crowd))
    record("come back bare", await come_back_bare(bare_http, relays, crowd))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    env = environment()
    os.environ |= env
    world = prepare(options.sockets)
    with (
        serve(env) as ours,
        uvicorn("benchmarks.bare_sockets:application", env) as relays,
        granian("config.wsgi:application", env=env) as http,
        granian("benchmarks.bare:application", env=env | {"BARE_SERVER": "1"}) as bare_http,
    ):
        rows = asyncio.run(measure(Servers(ours, relays, http, bare_http), world, options))
    show(rows_of(rows, pairs=PAIRS, rounds=options.rounds), as_json=options.json)


if __name__ == "__main__":
    main()
