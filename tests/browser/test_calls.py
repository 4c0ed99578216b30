"""Two real browsers complete calls through the signalling: directly, and through a relay alone."""

import contextlib
import os
import secrets
from pathlib import Path

import httpx
import pytest

from tests import relay
from tests.browser.chromium import needs_chromium, wait_until, watch
from tests.databases import TemporaryDatabase
from tests.relay import Relay
from tests.server import ON_POSTGRES, RunningServer
from tests.waiting import wait_for

SIDE = Path(__file__).with_name("call.js")
PASSWORD = "a long word for browsers"

pytestmark = [needs_chromium, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """The URL of a coturn with the shipped file, on loopback, where the browsers are."""
    if relay.TURNSERVER is None:
        yield ""
        return
    exceptions = ["allow-loopback-peers", "allowed-peer-ip=127.0.0.1"]
    with Relay(tmp_path_factory.mktemp("turn"), "listening-ip=127.0.0.1", "relay-ip=127.0.0.1", *exceptions) as running:
        yield f"turn:127.0.0.1:{running.port}?transport=udp"


@pytest.fixture(scope="module")
def chromium(whole_chromium):
    return whole_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory, turn):
    with contextlib.ExitStack() as stack:
        environment = {"RATELIMIT_ENABLE": "0", "TURN_URLS": turn, "TURN_SECRET": relay.SECRET}
        if ON_POSTGRES:
            environment["DATABASE_URL"] = stack.enter_context(TemporaryDatabase())
            environment["REDIS_URL"] = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
        running = RunningServer(tmp_path_factory.mktemp("calls"), **environment)
        stack.callback(running.kill)
        running.start()
        yield running


@pytest.fixture(scope="module")
def people(server):
    """Two people who know each other: their clients, and their conversation."""
    with contextlib.ExitStack() as stack:
        clients = [_sign_up(server, name) for name in ("Ada", "Ben")]
        for client in clients:
            stack.callback(client.close)
        ben_id = clients[1].get("/auth/me").json()["user"]["id"]
        started = clients[0].post("/messages/conversations", json={"user_id": ben_id}).json()
        yield clients, started["conversation"]["id"]


def _sign_up(server, name):
    http = httpx.Client(base_url=f"{server.base}/api/v1", timeout=20)
    email = f"{name.lower()}-{secrets.token_hex(3)}@example.com"
    fields = {"first_name": name, "last_name": "Example", "email": email, "password": PASSWORD, "language": "en"}
    assert http.post("/auth/signup", json=fields).status_code == 201
    code = wait_for(lambda: _code_for(server, email), what=f"a code for {email}")
    token = http.post("/auth/verify", json={"email": email, "code": code}).json()["token"]
    http.headers["Authorization"] = f"Bearer {token}"
    return http


def _code_for(server, email):
    mails = httpx.get(f"{server.base}/dev/mail.json", params={"to": email}, timeout=10).json()["mails"]
    return next((mail["code"] for mail in mails if mail.get("code")), None)


@pytest.fixture
def sides(server, people, empty_chromium):
    """A page for each of the two, signed in on a socket; any complaint of theirs fails the test."""
    pages, complaints = [], []
    for http in people[0]:
        page = empty_chromium.new_context().new_page()
        complaints.append(watch(page, server.base))
        # The client's page, with its strict policies: the call must live under them.
        page.goto(f"{server.base}/app/")
        page.evaluate(SIDE.read_text())
        page.evaluate("token => side.open(token)", http.headers["Authorization"].removeprefix("Bearer "))
        pages.append(page)
    yield pages
    problems = [page.evaluate("() => side.problem") for page in pages]
    assert (problems, complaints) == ([None, None], [[], []])


def until(page, state):
    page.wait_for_function("state => side.call?.state === state", arg=state, timeout=30_000)


def media_flows(page, media):
    """What has been decoded so far grows."""
    measure = "frames" if media == "video" else "energy"
    before = page.evaluate("() => side.flow()")[measure]
    wait_until(page, f"async before => (await side.flow()).{measure} > before", before)
    return page.evaluate("() => side.flow()")


@pytest.mark.parametrize("media", ["audio", "video"])
@pytest.mark.parametrize("route", ["direct", "relay"])
def test_two_browsers_talk(route, media, sides, people):
    if route == "relay" and relay.TURNSERVER is None:
        pytest.skip("no turnserver (apt-get install coturn)")
    clients, conversation_id = people
    for http in clients:
        choice = http.get("/profile/privacy").json()["privacy"] | {"relay_calls": route == "relay"}
        assert http.put("/profile/privacy", json=choice).status_code == 200
    caller, callee = sides
    call_id = caller.evaluate("([chat, media]) => side.invite(chat, media)", [conversation_id, media])
    until(callee, "ringing")
    callee.evaluate("() => side.accept()")
    for page in sides:
        until(page, "active")
        for _ in range(2):
            flow = media_flows(page, media)
        assert flow["pair"] is not None
        offered = set(page.evaluate("() => side.candidateTypes"))
        if route == "relay":
            assert flow["pair"] == ["relay", "relay"]
            assert offered == {"relay"}
        else:
            assert "relay" not in flow["pair"]
            assert "host" in offered
    callee.evaluate("() => side.hangup()")
    for page in sides:
        until(page, "ended")
        assert page.evaluate("() => side.events.slice(-4)") == ["ringing", "connecting", "active", "ended"]
    call = clients[0].get(f"/calls/{call_id}").json()["call"]
    assert (call["outcome"], call["media"]) == ("completed", media)
    line = clients[1].get(f"/messages/conversations/{conversation_id}/messages?limit=1").json()["messages"][0]
    assert (line["kind"], line["call"]["id"], line["call"]["outcome"]) == ("call", call_id, "completed")
