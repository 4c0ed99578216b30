"""python -m benchmarks.parity: is an address with an account answered as fast as one without?

`manage.py serve` with everything in one process, on SQLite and, where BENCH_DATABASE_URL names an
empty database, on PostgreSQL. Addresses with and without account take turns; none is asked twice.
"""

import argparse
import http.client
import json
import os
import secrets
import subprocess
import sys
import time
from statistics import median
from typing import Any

from benchmarks.http import environment
from benchmarks.servers import ROOT, free_port, running

LEAST, MOST = 0.8, 1.25
BODIES: dict[str, dict[str, str]] = {
    "login": {"password": "not the password"},
    "forgot-password": {},
    "verify-reset": {"code": "000000", "new_password": "another horse 9"},
    "resend-otp": {},
    "verify": {"code": "000000"},
}
# The state of the account: only these paths depend on it.
PREPARED = {"verify-reset": "forgot-password", "verify": "resend-otp"}


class Client:
    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)

    def post(self, path: str, email: str) -> tuple[int, float]:
        """The status, and the milliseconds until the last byte of the answer."""
        body = json.dumps(BODIES[path] | {"email": email})
        began = time.perf_counter()
        self._connection.request("POST", f"/api/v1/auth/{path}", body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        response.read()
        return response.status, (time.perf_counter() - began) * 1000


def measure(client: Client, path: str, known: list[str]) -> dict[str, Any]:
    unknown = [f"nobody-{secrets.token_hex(5)}@example.com" for _ in known]
    before = PREPARED.get(path)
    times: dict[str, list[float]] = {"known": [], "unknown": []}
    statuses = set()
    for number, pair in enumerate(zip(known, unknown, strict=True)):
        if before is not None:
            for email in pair:
                client.post(before, email)
        turns = list(zip(times, pair, strict=True))
        for kind, email in turns if number % 2 else turns[::-1]:
            status, milliseconds = client.post(path, email)
            statuses.add(status)
            times[kind].append(milliseconds)
    if len(statuses) != 1:
        raise RuntimeError(f"{path} answered {sorted(statuses)}")
    return {"work": path, "known": median(times["known"]), "unknown": median(times["unknown"])}


def people(env: dict[str, str], count: int) -> dict[bool, list[str]]:
    """Addresses of accounts, by whether they are verified."""
    program = f"""
import json, secrets
import django
django.setup()
from django.core.management import call_command
from accounts.services.registration import create_user
call_command("migrate", verbosity=0)
made = {{}}
for verified in (True, False):
    made[verified] = [f"{{secrets.token_hex(5)}}@example.com" for _ in range({count})]
    for email in made[verified]:
        create_user(email=email, password="a password for it", first_name="Bench", verified=verified)
print(json.dumps([made[True], made[False]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    confirmed, unconfirmed = json.loads(done.stdout.splitlines()[-1])
    return {True: confirmed, False: unconfirmed}


def rows_of(database: str, rounds: int) -> list[dict[str, Any]]:
    env = environment() | {"REDIS_URL": "", "DATABASE_URL": ""}
    if database == "postgresql":
        env["DATABASE_URL"] = os.environ["BENCH_DATABASE_URL"]
    env = {name: value for name, value in (os.environ | env).items() if value}
    port = free_port()
    # Each path has its own accounts: after a mail an address has to wait for the next one.
    rows = []
    made = people(env, rounds * len(BODIES))
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--deliver"]
    with running(command, port, env) as server:
        client = Client(server.port)
        for number, path in enumerate(BODIES):
            known = made[path not in ("resend-otp", "verify")][number * rounds : (number + 1) * rounds]
            rows.append({"database": database} | measure(client, path, known))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for database in ("sqlite", "postgresql") if "BENCH_DATABASE_URL" in os.environ else ("sqlite",):
        rows += rows_of(database, options.rounds)
    for row in rows:
        row["ratio"] = round(row["known"] / row["unknown"], 2)
        row["met"] = LEAST <= row["ratio"] <= MOST
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'median ms':32}{'account':>8}{'none':>8}{'ratio':>7}   goal {LEAST}-{MOST}")
    for row in rows:
        print(
            f"{row['database'] + ' ' + row['work']:32}{row['known']:8.1f}{row['unknown']:8.1f}{row['ratio']:7}   {'met' if row['met'] else 'missed'}"
        )


if __name__ == "__main__":
    main()
