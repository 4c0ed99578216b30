"""python -m benchmarks.memory: what an HTTP worker takes after its start, and after logins and requests.

One worker with four threads. Needs PostgreSQL (BENCH_DATABASE_URL, an empty database) and Redis (BENCH_REDIS_URL).
"""

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import load
from benchmarks.http import environment
from benchmarks.login import PASSWORD, prepare
from benchmarks.report import show
from benchmarks.servers import ROOT, Server, granian

_START = """
import json, os, time
began = time.process_time()
import config.wsgi
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[1])
print(json.dumps([time.process_time() - began, pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576]))
"""


def start(env: dict[str, str]) -> tuple[float, float]:
    """CPU seconds and MB of a process that has loaded the application, all views included."""
    env = os.environ | env | {"DATABASE_CONNECTIONS": "kept"}
    done = subprocess.run([sys.executable, "-c", _START], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def ask(server: Server, request: bytes, count: int, expect: bytes) -> None:
    answered = 0
    while answered < count:
        result = load.run(server.port, lambda client: request, clients=8, seconds=1, expect=expect)
        answered += len(result.times)


def measure(env: dict[str, str], logins: int, requests: int) -> list[dict[str, Any]]:
    seconds, megabytes = start(env)
    body = json.dumps({"email": prepare(), "password": PASSWORD}).encode()
    with granian("config.wsgi:application", env=env, workers=1) as server:
        ask(server, load.request("POST", "/api/v1/auth/login", body=body), logins, b"200")
        ask(server, load.request("GET", "/api/v1/auth/me"), requests, b"401")
        grown = max(server.worker_memory_mb())
    return [
        {"work": "P12 CPU seconds to load the application", "measured": round(seconds, 2), "goal": 1.2},
        {"work": "P12 MB after that", "measured": round(megabytes, 1), "goal": 105},
        {"work": f"P12 MB of a worker after {logins:,} logins and {requests:,} requests",
         "measured": round(grown, 1), "goal": 125},
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logins", type=int, default=1_000)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    env = environment()
    os.environ |= env
    rows = measure(env, options.logins, options.requests)
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
