"""python -m benchmarks.login: a login beside the hash of its password alone, and many logins at once.

Needs PostgreSQL (BENCH_DATABASE_URL, an empty database) and Redis (BENCH_REDIS_URL).
"""

import argparse
import json
import os
import secrets
import time
from statistics import median
from typing import Any

from benchmarks import load
from benchmarks.http import environment
from benchmarks.servers import Server, granian

PASSWORD = "a password for the benchmark"
PARALLEL = 32


def prepare() -> list[str]:
    """The addresses of accounts with a password, one for each client: logins of one account wait for each other."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from accounts.services.registration import create_user
    from benchmarks import database, lower_bound

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(lower_bound.TABLES)
    emails = [f"{secrets.token_hex(4)}@example.com" for _ in range(PARALLEL)]
    for email in emails:
        create_user(email=email, password=PASSWORD, first_name="Bench", verified=True)
    database.settle()
    connection.close()
    return emails


def hash_alone() -> float:
    """Milliseconds for one check of a password, the hasher's own work."""
    from django.contrib.auth.hashers import check_password, make_password

    encoded = make_password(PASSWORD)
    started = time.perf_counter()
    check_password(PASSWORD, encoded)
    return (time.perf_counter() - started) * 1000


def measure(servers: dict[str, Server], requests: dict[str, list[bytes]], rounds: int) -> list[dict[str, Any]]:
    """`servers` and their `requests` (one for each client): "ours" and "least", the lower bound."""
    alone: list[float] = []
    times: dict[str, list[float]] = {who: [] for who in servers}
    rates: dict[str, list[float]] = {who: [] for who in servers}
    grown = 0.0

    def run(who: str, *, clients: int, seconds: float) -> load.Result:
        result = load.run(
            servers[who].port, lambda client: requests[who][client], clients=clients, seconds=seconds, expect=b"200"
        )
        if result.wrong:
            raise SystemExit(f"{result.wrong} logins failed")
        return result

    for who in servers:
        run(who, clients=8, seconds=1)
    for _ in range(rounds):
        alone += [hash_alone() for _ in range(5)]
        for who in servers:
            times[who] += run(who, clients=1, seconds=1).times
    for _ in range(max(1, rounds // 2)):
        for who, server in servers.items():
            before = server.memory_mb()
            rates[who].append(run(who, clients=PARALLEL, seconds=3).per_second)
            grown = max(grown, server.memory_mb() - before) if who == "ours" else grown
    hashed = median(alone)
    possible = (os.cpu_count() or 1) * 1000 / hashed
    one, many = (
        "P5 login, one client: ms beside the hash",
        f"P5 logins/s, {PARALLEL} clients: beside what the cores can",
    )
    return [
        {"work": one, "ours": median(times["ours"]) * 1000, "bare": hashed, "goal": 1.10},
        {"work": f"{one}, lower bound", "ours": median(times["least"]) * 1000, "bare": hashed, "goal": None},
        {"work": many, "ours": median(rates["ours"]), "bare": possible, "goal": 0.9},
        {"work": f"{many}, lower bound", "ours": median(rates["least"]), "bare": possible, "goal": None},
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
    bodies = [json.dumps({"email": email, "password": PASSWORD}).encode() for email in prepare()]
    requests = {
        "ours": [load.request("POST", "/api/v1/auth/login", body=body) for body in bodies],
        "least": [load.request("POST", "/login", body=body) for body in bodies],
    }
    with (
        granian("config.wsgi:application", env=env) as ours,
        granian("benchmarks.lower_bound:application", env=env | {"LOWER_BOUND_SERVER": "1"}) as least,
    ):
        rows = measure({"ours": ours, "least": least}, requests, options.rounds)
    for row in rows:
        row["ratio"] = round(row["ours"] / row["bare"], 2)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'':66}{'ours':>8}{'bare':>8}{'ratio':>7}{'goal':>6}")
    for row in rows:
        print(f"{row['work']:66}{row['ours']:8.1f}{row['bare']:8.1f}{row['ratio']:7}{row['goal'] or '':>6}")


if __name__ == "__main__":
    main()
