"""python -m benchmarks.flood: what a flood of sign-ins costs everyone else.

120 connections, each from another network, sign in with wrong passwords, from a process of their own. Beside them `GET auth/me`
and a bare page are read in turn, in the same run. On `manage.py serve` with SQLite; `--json` for the figures alone.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

CONNECTIONS = 120
SECONDS = 15.0
# Before the flood, and until it is in full flow.
QUIET_SECONDS = 3.0
START_SECONDS = 3.0


async def sign_in(http: httpx.AsyncClient, number: int, until: float, statuses: Counter[str]) -> None:
    tries = 0
    while time.monotonic() < until:
        tries += 1
        body = {"email": f"u{number}-{tries}@example.com", "password": "a wrong password"}
        headers = {"X-Forwarded-For": f"10.{number}.{tries % 250}.1"}
        try:
            reply = await http.post("/api/v1/auth/login", json=body, headers=headers)
            statuses[str(reply.status_code)] += 1
        except httpx.HTTPError as error:
            statuses[type(error).__name__] += 1


async def _flood(base: str, seconds: float) -> Counter[str]:
    statuses: Counter[str] = Counter()
    limits = httpx.Limits(max_connections=CONNECTIONS)
    until = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=base, timeout=30, limits=limits) as http:
        await asyncio.gather(*(sign_in(http, number, until, statuses) for number in range(CONNECTIONS)))
    return statuses


def flood(base: str, seconds: float, results: Any) -> None:
    results.put(dict(asyncio.run(_flood(base, seconds))))


def read(base: str, token: str, seconds: float) -> dict[str, dict[str, float]]:
    """Milliseconds of the replies, of `me` and of the bare page in turn; and how many were errors of the server."""
    pages = {"me": ("/api/v1/auth/me", {"Authorization": f"Bearer {token}"}), "bare": ("/api/v1/nothing-here", {})}
    times: dict[str, list[float]] = {name: [] for name in pages}
    refused: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with httpx.Client(base_url=base, timeout=30) as http:
        while time.monotonic() < until:
            for name, (path, headers) in pages.items():
                started = time.perf_counter()
                refused[name] += http.get(path, headers=headers).status_code >= 500
                times[name].append((time.perf_counter() - started) * 1000)
            time.sleep(0.03)
    figures = {}
    for name, values in times.items():
        values.sort()
        places = {"p50": 0.5, "p95": 0.95, "max": 1.0}
        shown = {
            place: round(values[min(len(values) - 1, int(len(values) * part))], 1) for place, part in places.items()
        }
        figures[name] = shown | {"refused": refused[name]}
    return figures


def measure(base: str, token: str) -> dict[str, Any]:
    quiet = read(base, token, QUIET_SECONDS)
    results: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=flood, args=(base, SECONDS, results))
    process.start()
    time.sleep(START_SECONDS)
    flooded = read(base, token, SECONDS - START_SECONDS - 1)
    statuses = results.get()
    process.join()
    rows = {
        f"{name} {when}": values
        for when, times in (("quiet", quiet), ("flooded", flooded))
        for name, values in times.items()
    }
    return {"sign-ins": statuses, **rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from tests.server import RunningServer

    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), TRUSTED_PROXIES="1")
        server.start()
        try:
            person = {"email": "ann@example.com", "password": "correct horse 9", "first_name": "Ann", "last_name": "X"}
            httpx.post(f"{server.base}/api/v1/auth/signup", json=person).raise_for_status()
            token = httpx.post(f"{server.base}/api/v1/auth/login", json=person).json()["token"]
            figures = measure(server.base, token)
        finally:
            server.stop()
    if options.json:
        json.dump(figures, sys.stdout)
    else:
        for name, values in figures.items():
            print(f"{name:14}", values)


if __name__ == "__main__":
    main()
