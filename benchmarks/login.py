"""python -m benchmarks.login: a login beside the hash of its password alone, and many logins at once.

Needs PostgreSQL (BENCH_DATABASE_URL, an empty database) and Redis (BENCH_REDIS_URL).
"""

import argparse
import json
import os
import secrets
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks import load
from benchmarks.http import environment
from benchmarks.servers import Server, granian

PASSWORD = "a password for the benchmark"
PARALLEL = 32


def prepare() -> str:
    """The address of an account with a password."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from accounts.services.registration import create_user
    from benchmarks import database

    call_command("migrate", verbosity=0)
    email = f"{secrets.token_hex(4)}@example.com"
    create_user(email=email, password=PASSWORD, first_name="Bench", verified=True)
    database.settle()
    connection.close()
    return email


def hash_alone() -> float:
    """Milliseconds for one check of a password, the hasher's own work."""
    from django.contrib.auth.hashers import check_password, make_password

    encoded = make_password(PASSWORD)
    started = time.perf_counter()
    check_password(PASSWORD, encoded)
    return (time.perf_counter() - started) * 1000


def measure(server: Server, make: Callable[[int], bytes], rounds: int) -> list[dict[str, Any]]:
    alone, logged_in = [], []
    for _ in range(rounds):
        alone += [hash_alone() for _ in range(5)]
        logged_in += load.run(server.port, make, clients=1, seconds=1, expect=b"200").times
    hashed, login = median(alone), median(logged_in) * 1000
    before = server.memory_mb()
    crowd = load.run(server.port, make, clients=PARALLEL, seconds=4, expect=b"200")
    grown = server.memory_mb() - before
    possible = (os.cpu_count() or 1) * 1000 / hashed
    return [
        {"work": "P5 login, one client: ms beside the hash", "ours": login, "bare": hashed, "goal": 1.10},
        {"work": f"P5 logins/s, {PARALLEL} clients: beside what the cores can hash",
         "ours": crowd.per_second, "bare": possible, "goal": 0.9},
        {"work": f"P5 MB more with {PARALLEL} clients: beside a hash per core and worker",
         "ours": grown, "bare": 19.0 * (os.cpu_count() or 1) * 2, "goal": 1.0},
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    env = environment()
    os.environ |= env
    body = json.dumps({"email": prepare(), "password": PASSWORD}).encode()
    request = load.request("POST", "/api/v1/auth/login", body=body)
    with granian("config.wsgi:application", env=env) as server:
        load.run(server.port, lambda client: request, clients=8, seconds=1, expect=b"200")
        rows = measure(server, lambda client: request, options.rounds)
    for row in rows:
        row["ratio"] = round(row["ours"] / row["bare"], 2)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'':66}{'ours':>8}{'bare':>8}{'ratio':>7}{'goal':>6}")
    for row in rows:
        print(f"{row['work']:66}{row['ours']:8.1f}{row['bare']:8.1f}{row['ratio']:7}{row['goal']:6}")


if __name__ == "__main__":
    main()
