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
from contextlib import AsyncExitStack
from statistics import median

import httpx
from websockets.asyncio.client import connect

from benchmarks import load
from benchmarks.http import environment
from benchmarks.report import show
from benchmarks.servers import Server, free_port, granian, running
from benchmarks.socket_goals import rows_of

PAIRS = 32
OPEN_AT_ONCE = 64


def uvicorn(target, env):
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port), "--ws", "websockets-sansio",
        "--ws-per-message-deflate", "false", "--lifespan", "off", "--no-access-log", "--log-level", "error", target,
    ]  # fmt: skip
    return running(command, port, env)


def prepare(sockets):
    """Pairs of users with a conversation each, and tokens for `sockets` sockets, ten per user."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection

    from accounts.services import registration, sessions
    from benchmarks import database
    from messaging.services import conversations

    call_command("migrate", verbosity=0)
    run = secrets.token_hex(4)
    for number in range(max(PAIRS * 2, sockets // 10)):
        address = f"{run}-{number}@example.com"
        registration.create_user(email=address, password=None, first_name="Bench", last_name="Mark", verified=True)
    people = list(get_user_model().objects.filter(email__startswith=run).order_by("id"))
    tokens = [sessions.start(user=person)[1] for person in people]
    talks = [
        conversations.start(starter=one, user_id=other.id)[0]["id"]
        for one, other in list(zip(people[::2], people[1::2], strict=True))[:PAIRS]
    ]
    database.settle()
    connection.close()
    return {"tokens": tokens, "talks": talks, "crowd": [tokens[n % len(tokens)] for n in range(sockets)]}


async def open_many(make, count):
    """Opens sockets, a number of them at a time; their exit stack and the seconds it took."""
    stack, gate = AsyncExitStack(), asyncio.Semaphore(OPEN_AT_ONCE)

    async def one(number):
        async with gate:
            return await stack.enter_async_context(make(number))

    started = time.perf_counter()
    opened = await asyncio.gather(*(one(number) for number in range(count)))
    return stack, opened, time.perf_counter() - started


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


class Wired:
    """A signed-in socket of Parley."""

    def __init__(self, server, token, resume=None):
        self.address = f"ws://127.0.0.1:{server.port}/api/v1/realtime"
        self.token, self.resume = token, resume
        self.ready = None

    async def __aenter__(self):
        self.manager = connect(self.address, additional_headers={"Authorization": f"Bearer {self.token}"})
        self.socket = await self.manager.__aenter__()
        self.ready = json.loads(await self.socket.recv())["data"]
        if self.resume is not None:
            await self.socket.send(json.dumps({"type": "resume", "data": self.resume}))
        return self

    async def __aexit__(self, *reason):
        await self.manager.__aexit__(*reason)

    async def until(self, kind):
        while True:
            frame = json.loads(await self.socket.recv())
            if "seq" in frame and frame["seq"] % 20 == 0:
                await self.socket.send(json.dumps({"type": "ack", "data": {"seq": frame["seq"]}}))
            if frame["type"] == kind:
                return frame


async def relay(pairs, say, hear, seconds):
    """Each pair in a closed loop: one sends, the other receives, repeat. Returns the rate per second and the times."""
    times, until = [], time.perf_counter() + seconds

    async def play(number, one, other):
        count = 0
        while (started := time.perf_counter()) < until:
            await say(number, one, count)
            await hear(other)
            times.append((time.perf_counter() - started) * 1000)
            count += 1

    await asyncio.gather(*(play(n, one, other) for n, (one, other) in enumerate(pairs)))
    times.sort()
    return {
        "per_second": round(len(times) / seconds),
        "p50_ms": round(median(times), 2),
        "p99_ms": round(times[int(len(times) * 0.99)], 2),
    }


async def relay_ours(server, world, pairs, seconds, command):
    async with AsyncExitStack() as stack:
        tokens, talks = world["tokens"], world["talks"]
        wired = [await stack.enter_async_context(Wired(server, token)) for token in tokens[: 2 * pairs]]

        async def say(number, one, count):
            data = {"conversation_id": talks[number]}
            data |= {"body": "hello there"} if command == "message.send" else {"is_typing": bool(count % 2)}
            await one.socket.send(json.dumps({"type": command, "ref": count, "data": data}))
            await one.until("reply")

        kind = "message.new" if command == "message.send" else "typing"
        couples = list(zip(wired[::2], wired[1::2], strict=True))

        async def hear(other):
            await other.until(kind)

        return await relay(couples, say, hear, seconds)


async def relay_bare(server, path, pairs, seconds):
    async with AsyncExitStack() as stack:
        names = [secrets.token_hex(4) for _ in range(2 * pairs)]
        sockets = [
            await stack.enter_async_context(connect(f"ws://127.0.0.1:{server.port}/{path}?{name}")) for name in names
        ]

        async def say(number, one, count):
            await one.send(json.dumps({"to": names[2 * number + 1], "body": "hello there", "n": count}))

        async def hear(other):
            await other.recv()

        return await relay(list(zip(sockets[::2], sockets[1::2], strict=True)), say, hear, seconds)


async def posted(http, world, clients, seconds):
    """The rate at which as many clients send messages over REST."""
    address, body = "/api/v1/messages/conversations/{}/messages", json.dumps({"body": "hello there"}).encode()
    ready = [
        load.request("POST", address.format(world["talks"][number]), token=world["tokens"][2 * number], body=body)
        for number in range(clients)
    ]
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
    posts, receipts = [], []
    async with Wired(server, world["tokens"][1]) as wired, httpx.AsyncClient() as client:
        address = f"http://127.0.0.1:{http.port}/api/v1/messages/conversations/{world['talks'][0]}/messages"
        headers = {"Authorization": f"Bearer {world['tokens'][0]}"}
        until = time.perf_counter() + seconds
        while (started := time.perf_counter()) < until:

            async def post(started=started):
                (await client.post(address, json={"body": "hello there"}, headers=headers)).raise_for_status()
                posts.append((time.perf_counter() - started) * 1000)

            async def receive(started=started):
                await wired.until("message.new")
                receipts.append((time.perf_counter() - started) * 1000)

            await asyncio.gather(post(), receive())
    receipts.sort()
    return {
        "post_p50_ms": round(median(posts), 2),
        "receipt_p50_ms": round(median(receipts), 2),
        "receipt_p99_ms": round(receipts[int(len(receipts) * 0.99)], 2),
        "ratio_p50": round(median(receipts) / median(posts), 2),
    }


async def come_back(http, server, world, count):
    """`count` sockets resume at once while a user continues to use REST."""
    headers = {"Authorization": f"Bearer {world['tokens'][0]}"}
    address = f"http://127.0.0.1:{http.port}/api/v1/auth/me"
    stop = asyncio.Event()

    async def use():
        times = []
        async with httpx.AsyncClient() as client:
            while not stop.is_set() or len(times) < 50:
                started = time.perf_counter()
                (await client.get(address, headers=headers)).raise_for_status()
                times.append((time.perf_counter() - started) * 1000)
                await asyncio.sleep(0.01)
        times.sort()
        return round(times[int(len(times) * 0.95)], 1)

    stop.set()
    quiet = await use()
    stop.clear()
    epochs = {}
    for token in set(world["crowd"][:count]):
        async with Wired(server, token) as wired:
            epochs[token] = {"epoch": wired.ready["epoch"], "seq": max(wired.ready["min_seq"], wired.ready["seq"] - 20)}
    user = asyncio.ensure_future(use())
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

    started = time.perf_counter()
    await asyncio.gather(*(one(token) for token in world["crowd"][:count]))
    seconds = time.perf_counter() - started
    stop.set()
    busy = await user
    synced.sort()
    return {
        "sockets": len(synced),
        "missing": missing,
        "all_synced_s": round(seconds, 2),
        "synced_p50_ms": round(median(synced)),
        "rest_p95_quiet_ms": quiet,
        "rest_p95_busy_ms": busy,
    }


async def measure(ours, bare, http, world, options):
    rows = {}

    def record(name, result):
        rows[name] = result
        print(name, result, file=sys.stderr)

    count = options.sockets
    record("idle ours", await idle(ours, lambda n: Wired(ours, world["crowd"][n]), count))
    # A separate process for each: memory that one run has freed would be available to the next.
    for path in ("channels", "bare"):
        with uvicorn("benchmarks.bare_sockets:application", dict(os.environ)) as alone:
            address = f"ws://127.0.0.1:{alone.port}/{path}"
            record(f"idle {path}", await idle(alone, lambda n, address=address: connect(f"{address}?i{n}"), count))
    for pairs in (1, PAIRS):
        for turn in range(options.rounds):
            label = f"{pairs} pairs, round {turn + 1}"
            record(f"relay bare, {label}", await relay_bare(bare, "bare", pairs, options.seconds))
            record(f"relay channels, {label}", await relay_bare(bare, "channels", pairs, options.seconds))
            record(f"relay core layer, {label}", await relay_bare(bare, "core", pairs, options.seconds))
            record(f"typing ours, {label}", await relay_ours(ours, world, pairs, options.seconds, "typing"))
            sent = relay_ours(ours, world, pairs, options.seconds, "message.send")
            record(f"message ours, {label}", await cpu_of((ours,), options.seconds, sent))
            record(f"message rest, {label}", await posted(http, world, pairs, options.seconds))
            received = posted_to_sockets(http, ours, world, pairs, options.seconds)
            record(f"message rest to sockets, {label}", await received)
    record("after a POST", await after_post(http, ours, world, options.seconds))
    record("come back", await come_back(http, ours, world, min(500, count)))
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
        uvicorn("config.asgi:application", env) as ours,
        uvicorn("benchmarks.bare_sockets:application", env) as bare,
        granian("config.wsgi:application", env=env) as http,
    ):
        rows = asyncio.run(measure(ours, bare, http, world, options))
    show(rows_of(rows, pairs=PAIRS, rounds=options.rounds), as_json=options.json)


if __name__ == "__main__":
    main()
