"""A flood of sign-ins costs sign-ins only: few threads hash passwords, and the rest wait without a thread.

Threads are counted, and `python -m benchmarks.flood` measures times on a server.
"""

import asyncio
import json
import subprocess
import sys
import threading
import time

import pytest
from django.contrib.auth import hashers as django_hashers
from django.test import override_settings

from accounts import hashers
from accounts.hashers import BoundedArgon2Hasher
from core.api.exceptions import ServiceUnavailable
from server import concurrency_limit
from server.concurrency_limit import ConcurrencyLimit, hashes_password, hashing_paths, hashing_slots
from tests.contract.test_writes_at_once import WRITES, World
from tests.hashers import QuickHasher
from tests.parallel import Started
from tests.server import ROOT

THREADS = 16
LOGIN, ME = ("POST", "/api/v1/auth/login"), ("GET", "/api/v1/auth/me")


class Threads:
    """Stands for the threads: holds every request until it is told to go on, and counts the paths that it holds."""

    def __init__(self):
        self.held = []
        self.go_on = asyncio.Event()

    async def __call__(self, scope, receive, send):
        self.held.append(scope["path"])
        if hashes_password(scope):
            await self.go_on.wait()
        self.held.remove(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def limited(threads, wait_seconds):
    """As config.asgi puts them together."""
    inner = ConcurrencyLimit(threads, slots=THREADS)
    return ConcurrencyLimit(
        inner, slots=hashing_slots(THREADS), wait_seconds=wait_seconds, counted=concurrency_limit.hashes_password
    )


async def ask(application, request):
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    method, path = request
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": [(b"host", b"localhost")]}
    await application(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"])


@pytest.mark.once
async def test_120_sign_ins_hold_a_quarter_of_the_threads_and_leave_the_others():
    threads = Threads()
    application = limited(threads, wait_seconds=0.3)
    flood = [asyncio.create_task(ask(application, LOGIN)) for _ in range(120)]
    await asyncio.sleep(0.05)
    assert threads.held == [LOGIN[1]] * 4
    # The threads are free for everyone else, at once.
    replies = await asyncio.wait_for(asyncio.gather(*(ask(application, ME) for _ in range(50))), 2)
    assert {status for status, _headers in replies} == {200}
    await asyncio.sleep(0.5)
    refused = [task.result() for task in flood if task.done()]
    assert len(refused) == 116
    assert {status for status, _headers in refused} == {503}
    assert all(int(headers[b"retry-after"]) >= 1 for _status, headers in refused)
    threads.go_on.set()
    statuses = [(await task)[0] for task in flood]
    assert (statuses.count(200), statuses.count(503)) == (4, 116)


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.server
@pytest.mark.timeout(240)
def test_me_is_answered_while_120_connections_from_many_networks_sign_in():
    command = [sys.executable, "-m", "benchmarks.flood", "--json"]
    figures = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=200).stdout)
    me, bare = figures["me flooded"], figures["bare flooded"]
    assert me["refused"] == bare["refused"] == 0, figures
    # A busy machine is slow to answer a bare page, too.
    assert me["p50"] < max(200, 3 * bare["p50"]) and me["p95"] < max(400, 3 * bare["p95"]), figures
    assert figures["sign-ins"]["401"] > 10 and figures["sign-ins"].keys() <= {"401", "503"}, figures


@pytest.mark.once
async def test_a_burst_that_moves_is_served():
    threads = Threads()
    threads.go_on.set()
    replies = await asyncio.gather(*(ask(limited(threads, wait_seconds=2.0), LOGIN) for _ in range(120)))
    assert {status for status, _headers in replies} == {200}


@pytest.mark.once
@pytest.mark.parametrize(("threads", "slots"), [(1, 1), (4, 1), (16, 4), (100, 25)])
def test_the_share_of_the_threads(threads, slots):
    assert hashing_slots(threads) == slots


@pytest.mark.once
def test_serve_puts_them_together_so():
    from django.conf import settings

    from config import asgi

    outer = asgi.pages._app
    assert outer._counted is hashes_password
    assert (outer._free, outer._wait_seconds) == (hashing_slots(settings.REQUEST_THREADS), 2.0)
    assert outer._app._free == settings.REQUEST_THREADS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_view_that_hashes_says_so(name, monkeypatch, settings):
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop"]
    world = World()
    request = WRITES[name](world)
    hashed = []
    for method in ("encode", "verify"):
        own = getattr(QuickHasher, method)
        monkeypatch.setattr(QuickHasher, method, lambda self, *values, m=own: (hashed.append(1), m(self, *values))[1])
    response = request.send()
    # The keys of event sources are set by another fixture; those requests are signed and hash nothing.
    assert response.status_code < 300 or name == "notifications_events", response.content
    assert bool(hashed) is ((request.method, request.path) in hashing_paths())


@pytest.mark.once
def test_the_support_pages_that_hash_say_so():
    assert {path for _method, path in hashing_paths() if path.startswith("/admin/")} == {
        "/admin/login/",
        "/admin/second-factor/",
    }


# --- in the threads ---------------------------------------------------------------------------------


@pytest.fixture
def argon2():
    with override_settings(PASSWORD_HASHERS=["accounts.hashers.BoundedArgon2Hasher"]):
        yield BoundedArgon2Hasher()


@pytest.mark.once
def test_hashes_run_in_threads_of_their_own_at_a_lower_priority(argon2, monkeypatch):
    seen = []
    priority_of = getattr(__import__("os"), "getpriority", None)
    encode = django_hashers.Argon2PasswordHasher.encode

    def recorded(self, password, salt):
        seen.append((threading.current_thread().name, priority_of(0, threading.get_native_id()) if priority_of else 0))
        return encode(self, password, salt)

    monkeypatch.setattr(django_hashers.Argon2PasswordHasher, "encode", recorded)
    own = priority_of(0, threading.get_native_id()) if priority_of else 0
    argon2.encode("correct horse 9", argon2.salt())
    [(name, priority)] = seen
    assert name.startswith("hash")
    assert priority >= min(19, max(own, hashers.NICENESS))


@pytest.mark.once
def test_a_hash_that_finds_no_core_in_time_is_refused_and_never_computed(argon2, monkeypatch):
    computed, release = [], threading.Event()

    def slow(self, password, salt):
        computed.append(password)
        release.wait(10)
        return "x"

    monkeypatch.setattr(django_hashers.Argon2PasswordHasher, "encode", slow)
    monkeypatch.setattr(hashers, "WAIT_SECONDS", 0.2)
    running = [Started(lambda: argon2.encode("first", "salt")) for _ in range(hashers._hashing._max_workers)]
    while len(computed) < len(running):
        time.sleep(0.01)
    with pytest.raises(ServiceUnavailable) as refused:
        argon2.encode("second", "salt")
    assert refused.value.retry_after == 2
    release.set()
    assert {one.end() for one in running} == {"x"}
    assert "second" not in computed
