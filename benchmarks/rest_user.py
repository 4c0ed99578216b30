"""One user of REST in a process of its own: a GET every 10 ms, timed, until its standard input is closed.

    python -m benchmarks.rest_user ADDRESS TOKEN

Prints the 95th percentile in milliseconds. Beside a crowd of clients in one event loop it would measure their queue.
"""

import asyncio
import sys
import time

import httpx

AT_LEAST = 100


async def main(address: str, token: str) -> None:
    times: list[float] = []
    end = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        while not end.done() or len(times) < AT_LEAST:
            started = time.perf_counter()
            (await client.get(address)).raise_for_status()
            times.append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(0.01)
    times.sort()
    print(round(times[int(len(times) * 0.95)], 2))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
