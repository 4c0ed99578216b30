"""Mail and push services that refuse, hang, defer or answer nonsense: users do not notice, and all of it is sent later.

Two deployments side by side, alike but for their services: one has good ones, the other's go wrong. Everything is asked
of both in turns, so that what the machine does besides happens to both.
"""

import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.faults.conftest import FULL
from tests.faults.proxy import HANG, PASS, REFUSE, FaultyProxy
from tests.flows.conftest import running_server
from tests.flows.people import Person
from tests.notifications.fake_fcm import FakeFcm
from tests.server import ROOT
from tests.waiting import wait_for

ROUNDS, RETRY_AFTER = (100, 120) if FULL else (2, 2)
WORDS = b"\x00\xff\r\nnot what you think\r\n"
CLOSE = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
# What the mail server does, and what the push service does at the same time.
TROUBLES = {
    "refuse": (REFUSE, REFUSE),
    "hang": (HANG, HANG),
    "busy": (
        b"421 come back later\r\n",
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: %d\r\n%b" % (RETRY_AFTER, CLOSE),
    ),
    "internal": (b"554 no service here\r\n", b"HTTP/1.1 500 Internal Server Error\r\n" + CLOSE),
    "unavailable": (b"451 local error\r\n", b"HTTP/1.1 503 Service Unavailable\r\n" + CLOSE),
    "garbage": (WORDS, WORDS),
}


class Deployment:
    """A server with a proxy in front of each service, two users with a conversation, and new users."""

    def __init__(self, name, server, folder, mail_sink):
        self.name, self.server = name, server
        self.newcomers = []
        self.push = FakeFcm(folder)
        fcm = FaultyProxy(urlsplit(self.push.endpoint).port)
        self.proxies = (FaultyProxy(urlsplit(mail_sink.url).port), fcm)
        endpoint = f"http://127.0.0.1:{fcm.port}"
        account = Path(self.push.credentials)
        account.write_text(json.dumps(json.loads(account.read_text()) | {"token_uri": f"{endpoint}/token"}))
        server.environment |= {
            # With the patience of the product, or with less of it.
            "DJANGO_SETTINGS_MODULE": "tests.faults.full_settings" if FULL else "tests.faults.server_settings",
            "EMAIL_URL": f"smtp://127.0.0.1:{self.proxies[0].port}",
            **self.push.environment,
            "PUSH_FCM_ENDPOINT": endpoint,
        }

    def open(self, settle):
        self.server.start()
        self.books = settle(self.server, 1, self.name.title())
        self.pair = self.books.pairs[0]
        self.pair.second.call("POST", "/profile/push-token", {"token": "phone", "platform": "android"})

    def turn(self, *modes):
        for proxy, mode in zip(self.proxies, modes, strict=True):
            proxy.turn(mode)

    def close(self):
        for one in (*self.proxies, *self.newcomers):
            one.close()
        self.push.stop()

    def requests(self, number):
        """What people do: (who, method, path, what)."""
        newcomer = Person(self.server, f"New{self.name}{number}")
        self.newcomers.append(newcomer)
        first = self.pair.first
        sign_up = {"first_name": "New", "last_name": "Comer", "email": newcomer.email, "password": "a long word for me"}
        send = {"body": f"me says {number}", "client_id": f"me-{number}"}
        yield newcomer, "POST", "/auth/signup", sign_up
        yield newcomer, "POST", "/auth/forgot-password", {"email": self.pair.second.email}
        yield first, "POST", f"/messages/conversations/{self.pair.conversation_id}/messages", send
        yield first, "GET", "/notifications/unread-count", None

    def ask(self, who, method, path, data):
        """Status, the form of the answer, and the seconds that it took."""
        headers = {"Authorization": f"Bearer {who.token}"} if who.token else {}
        begun = time.monotonic()
        answer = who.http.request(method, path, json=data, headers=headers)
        seconds = time.monotonic() - begun
        body = answer.json()
        if path.endswith("/messages") and answer.status_code == 201:
            self.books.tried.add(data["body"])
            self.books.acknowledged.append((self.pair, "me", body["message"]))
        return (answer.status_code, form(body)), seconds

    def deliveries(self):
        command = [sys.executable, "manage.py", "stats", "--json"]
        done = subprocess.run(
            command, cwd=ROOT, env=self.server.environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)["deliveries"]


def form(value):
    """An answer without what differs from person to person."""
    if isinstance(value, dict):
        return {name: form(inner) for name, inner in value.items()}
    return [form(inner) for inner in value] if isinstance(value, list) else type(value).__name__


@pytest.fixture
def deployments(tmp_path, mail_sink, settle):
    with contextlib.ExitStack() as stack:
        made = []
        for name in ("well", "troubled"):
            folder = tmp_path / name
            folder.mkdir()
            server = stack.enter_context(running_server(folder, mail_sink))
            made.append(Deployment(name, server, folder, mail_sink))
            stack.callback(made[-1].close)
        for deployment in made:
            deployment.open(settle)
        yield made


@pytest.mark.timeout(3600 if FULL else 150)
def test_people_go_on_while_mail_and_push_are_down(deployments, mail_sink):
    well, troubled = deployments
    times = defaultdict(list)
    number = 0
    for trouble, modes in TROUBLES.items():
        troubled.turn(*modes)
        for _ in range(ROUNDS):
            number += 1
            for mine, other in zip(well.requests(number), troubled.requests(number), strict=True):
                # Whose turn comes first changes, too.
                pairs = [(well, mine), (troubled, other)][:: 1 if number % 2 else -1]
                answers = {}
                for deployment, request in pairs:
                    answers[deployment.name], seconds = deployment.ask(*request)
                    for name in (trouble, mine[2].split("/")[-1], "all"):
                        times[name, deployment.name].append(seconds)
                # What is asked and answered is the same, whatever happens behind.
                assert answers["well"] == answers["troubled"], (trouble, mine)
                assert answers["well"][0] < 300, answers
            time.sleep(0 if FULL else 0.1)
    for trouble in dict.fromkeys(name for name, _ in list(times)):
        good, bad = (sorted(times[trouble, deployment.name]) for deployment in deployments)
        late = int(len(good) * 0.95)
        print(
            f"{trouble}: median {statistics.median(bad) / statistics.median(good):.2f} × of"
            f" {1000 * statistics.median(good):.0f} ms, p95 {bad[late] / good[late]:.2f} × of {1000 * good[late]:.0f} ms"
        )

    troubled.turn(PASS, PASS)
    begun = time.monotonic()
    patience = 2 * RETRY_AFTER + 60
    for deployment in deployments:
        for newcomer in deployment.newcomers:
            code = wait_for(
                lambda who=newcomer: mail_sink.code_for(who.email), what=f"mail to {newcomer.email}", seconds=patience
            )
            newcomer.call("POST", "/auth/verify", {"email": newcomer.email, "code": code})
        last = f"{number} new messages"
        wait_for(
            lambda at=deployment, text=last: any(text in json.dumps(one) for one in at.push.messages("phone")),
            what=f"the last push in the {deployment.name} deployment",
            seconds=patience,
        )
        wait_for(lambda at=deployment: at_rest(at.deliveries()), what="an empty queue", seconds=patience)
        print(f"{deployment.name}: {deployment.deliveries()} after {time.monotonic() - begun:.0f} s")
        deployment.books.balance()


def at_rest(deliveries):
    """Everything left, or need not leave any more; nothing was given up."""
    for states in deliveries.values():
        assert not states.get("dead") and not states.get("expired"), deliveries
    return not any(states.get(name) for states in deliveries.values() for name in ("pending", "leased"))
