"""Commands that are started twice at once: one works, the other waits and finds it done."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import connection

from core.database.exclusive import exclusive, without_time_limits
from tests.parallel import Started
from tests.server import ON_POSTGRES

ROOT = Path(__file__).resolve().parents[2]
on_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no limits of time")


def start(folder, *words):
    environment = {**os.environ, "DEBUG": "1", "DATABASE_URL": "", "REDIS_URL": "", "VAR_DIR": str(folder)}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    return subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.once
def test_a_new_database_is_migrated_and_filled_once(tmp_path):
    for words in (["migrate", "--verbosity", "0"], ["demo", "--json"]):
        running = [start(tmp_path, *words) for _ in range(3)]
        said = [process.communicate(timeout=100) for process in running]
        assert [process.returncode for process in running] == [0] * 3, said
    assert len({out for out, _ in said}) == 1 and len(json.loads(said[0][0])) == 3


def blocks_at_once():
    """Enters one block while another is open. The order of what happens."""
    order, is_open, is_waited_for = [], threading.Event(), threading.Event()

    def first():
        with exclusive("test", report_wait=lambda: order.append("first waits")):
            is_open.set()
            assert is_waited_for.wait(20)
            order.append("first")

    started = Started(first)
    assert is_open.wait(20)
    with exclusive("test", report_wait=is_waited_for.set):
        order.append("second")
    started.end()
    return order


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_block_waits_for_the_same_block_of_another_session():
    assert blocks_at_once() == ["first", "second"]


def limits():
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return cursor.fetchone()[0]


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_migration_may_take_longer_than_a_request(monkeypatch):
    seen = []
    monkeypatch.setattr(migrate.Command, "handle", lambda self, *args, **options: seen.append(limits()))
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 10000")
    call_command("migrate")
    assert seen == ["0"]
    connection.close()


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_session_behind_a_bouncer_is_left_alone(monkeypatch):
    """It belongs to others in the next moment."""
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    before = limits()
    with exclusive("test", report_wait=lambda: None), without_time_limits():
        assert limits() == before
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
            assert cursor.fetchone()[0] == 0
