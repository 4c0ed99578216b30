"""Clients of the socket benchmarks: signed-in sockets of Parley, sockets of the baselines, and pairs in a closed loop."""

import asyncio
import json
import secrets
import time
from contextlib import AsyncExitStack
from statistics import median

from websockets.asyncio.client import connect

OPEN_AT_ONCE = 64


async def open_many(make, count):
    """Opens sockets, a number of them at a time; their exit stack and the seconds it took."""
    stack, gate = AsyncExitStack(), asyncio.Semaphore(OPEN_AT_ONCE)

    async def one(number):
        async with gate:
            return await stack.enter_async_context(make(number))

    started = time.perf_counter()
    opened = await asyncio.gather(*(one(number) for number in range(count)))
    return stack, opened, time.perf_counter() - started


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


async def relay(pairs, send, receive, seconds):
    """Each pair in a closed loop: one sends, the other receives, repeat. Returns the rate per second and the times."""
    times, until = [], time.perf_counter() + seconds

    async def play(number, one, other):
        count = 0
        while (started := time.perf_counter()) < until:
            await send(number, one, count)
            await receive(other)
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
        wired = [await stack.enter_async_context(Wired(server, token)) for token in world["tokens"][: 2 * pairs]]

        async def send(number, one, count):
            data = {"conversation_id": world["conversations"][number]}
            data |= {"body": "hello there"} if command == "message.send" else {"is_typing": bool(count % 2)}
            await one.socket.send(json.dumps({"type": command, "ref": count, "data": data}))
            await one.until("reply")

        async def receive(other):
            await other.until("message.new" if command == "message.send" else "typing")

        return await relay(list(zip(wired[::2], wired[1::2], strict=True)), send, receive, seconds)


async def relay_bare(server, path, pairs, seconds, *, replies=False):
    """With `replies` the sender gets a frame, too, and waits for it."""
    async with AsyncExitStack() as stack:
        names = [secrets.token_hex(4) for _ in range(2 * pairs)]
        sockets = [
            await stack.enter_async_context(connect(f"ws://127.0.0.1:{server.port}/{path}?{name}")) for name in names
        ]

        async def send(number, one, count):
            frame = {"to": names[2 * number + 1], "conversation_id": number + 1, "body": "hello there", "n": count}
            await one.send(json.dumps(frame))
            if replies:
                await one.recv()

        async def receive(other):
            await other.recv()

        return await relay(list(zip(sockets[::2], sockets[1::2], strict=True)), send, receive, seconds)
