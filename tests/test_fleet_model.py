"""The model of a fleet: it runs small, behaves like queues, and the figures of docs/scaling.md are its own."""

import json
import re
import subprocess
import sys

import pytest
from django.conf import settings

from benchmarks.fleet import FULL_AT, Costs, Fleet, simulate, two_digits, users_until_full

pytestmark = pytest.mark.once
PARTS = {
    "one socket process, its sockets": "socket processes, sockets",
    "one HTTP process": "http processes",
    "connections of one PostgreSQL without PgBouncer": "database, connections",
    "one delivery worker": "delivery workers",
    "CPU of one PostgreSQL": "database, CPU",
    "commits of one PostgreSQL": "database, commits",
    "one Redis": "redis",
    "one network card": "network card",
}


def test_a_small_fleet_is_computed_on_the_command_line():
    command = [sys.executable, "-m", "benchmarks.fleet", "--users", "1000", "--http", "3", "--json"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    (size,) = json.loads(done.stdout)["sizes"]
    assert (size["users"], size["online"], size["fleet"]["http"]) == (1000, 60, 3)
    assert all(part["used"] < FULL_AT for part in size["parts"])


def test_processes_are_added_until_none_is_full_and_the_database_is_not_multiplied():
    result = simulate(10**8)
    full = {part.name for part in result.parts if part.is_full}
    assert full == {"database, connections", "database, CPU", "database, commits", "redis"}


def test_a_cost_counts_where_it_arises():
    cheap, expensive = (simulate(10**6, fleet=Fleet(1, 1, 1), costs=Costs(http_send=cost)) for cost in (0.002, 0.02))
    changed = {was.name for was, now in zip(cheap.parts, expensive.parts, strict=True) if was.used != now.used}
    assert changed == {"http processes"}
    assert expensive.first_full.name == "http processes"


def test_the_page_shows_the_figures_of_the_model():
    page = (settings.BASE_DIR / "docs" / "scaling.md").read_text()
    rows = dict(re.findall(r"^\| ([\w, ]+) \| ([\d,]+) \|$", page, re.MULTILINE))
    assert rows == {row: two_digits(users_until_full(part)) for row, part in PARTS.items()}
    for users in (10**6, 10**8):
        fleet = simulate(users).fleet
        assert f"{fleet.http:,} HTTP processes, {fleet.sockets:,} socket processes, {fleet.deliver} delivery" in page
