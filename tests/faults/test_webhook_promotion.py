"""PostgreSQL is lost and its replica promoted while events leave: each target gets each event, in order, and nothing
twice but an attempt that is repeated under its id."""

import contextlib
import itertools
import json
import threading
import time
from collections import Counter

import httpx
import pytest

from tests.faults.test_webhooks import SECONDS, create, events_after, first_arrivals, manage, told
from tests.fleet import services
from tests.fleet.replication import Primary, Replica
from tests.integrations.receiving import receiver
from tests.integrations.server import PREFIX
from tests.server import RunningServer, free_port
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.once,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(services.postgres_binaries() is None, reason="needs the server programs of PostgreSQL"),
]
TEAMS = 3
# Each team's users that are there before the loss, and after the promotion, at least.
BEFORE, AFTER = 10, 5
# At least as many requests fail between the loss of the primary and the promotion.
REFUSED = 6


class Team(threading.Thread):
    """A server of the team: it creates one user after another, each until that is acknowledged."""

    def __init__(self, name, base, key):
        super().__init__(name=name, daemon=True)
        self.base, self.headers = f"{base}{PREFIX}", {"Authorization": f"Bearer {key}"}
        self.created, self.refused = [], []
        self.ended = threading.Event()

    def run(self):
        with httpx.Client(base_url=self.base, headers=self.headers, timeout=20) as client:
            for number in itertools.count():
                if self.ended.is_set():
                    return
                self.create(client, f"{self.name}-{number}")

    def create(self, client, name):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                status = create(client, name).status_code
            except httpx.TransportError as error:
                status = type(error).__name__
            if status in (200, 201):
                self.created.append(f"u-{name}")
                return
            self.refused.append(status)
            time.sleep(0.05)
        raise AssertionError(f"{name} was not acknowledged: {self.refused[-1]}")


@pytest.fixture
def primary():
    with Primary.running() as started:
        yield started


@pytest.fixture
def shops():
    """Two targets, one slower than the other: a receiver and its entry in WEBHOOKS each."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(receiver(name, types="account.created", delay=delay))
            for name, delay in (("shop", 0.01), ("desk", 0.05))
        ]


def test_events_arrive_over_a_promotion(primary, shops, tmp_path):
    replica = Replica(primary, port=free_port())
    server = RunningServer(
        tmp_path,
        DATABASE_URL=primary.url_beside(replica.port),
        DJANGO_SETTINGS_MODULE="tests.faults.dying_settings",
        WEBHOOKS=" ".join(entry for _, entry in shops),
        RATELIMIT_ENABLE="0",
        PUSH_BACKEND="off",
    )
    receivers = [made for made, _ in shops]
    with contextlib.ExitStack() as stack:
        server.start()
        stack.callback(server.kill)
        made = manage(server, "create_server_key", "teams", "--scopes", "users:write,events:read", "--json")
        key = json.loads(made)["key"]
        replica.follow()
        stack.callback(replica.stop)
        teams = [Team(f"team{number}", server.base, key) for number in range(TEAMS)]
        for team in teams:
            team.start()

        def at_least(number, of):
            return lambda: all(len(getattr(team, of)) >= number for team in teams)

        wait_for(at_least(BEFORE, "created"), SECONDS)
        wait_for(lambda: all(len(shop.received) >= BEFORE for shop in receivers), SECONDS)
        # In the middle: some events wait, one is on its way.
        primary.kill()
        refused = sum(len(team.refused) for team in teams)
        wait_for(lambda: sum(len(team.refused) for team in teams) >= refused + REFUSED, SECONDS)
        lost = [len(shop.received) for shop in receivers]
        replica.promote()
        acknowledged = [len(team.created) for team in teams]
        wait_for(
            lambda: all(len(team.created) >= number + AFTER for team, number in zip(teams, acknowledged, strict=True)),
            SECONDS,
        )
        for team in teams:
            team.ended.set()
            team.join(SECONDS)
            assert not team.is_alive()
        users = [name for team in teams for name in team.created]

        def told_all():
            return all(set(told(shop)) >= set(users) for shop in receivers)

        wait_for(told_all, 2 * SECONDS)
        with httpx.Client(base_url=server.base + PREFIX, headers=teams[0].headers, timeout=20) as client:
            events = events_after(client, 0)
            wait_for(lambda: client.get(f"{server.base}/readyz").json()["status"] == "ok", SECONDS)
        assert {status for team in teams for status in team.refused} <= {503}
        # One event for each user that was acknowledged, and for no other.
        assert Counter(event["data"]["user"]["external_id"] for event in events) == Counter(users)
        order = [event["webhook_id"] for event in events]
        for shop, before in zip(receivers, lost, strict=True):
            assert {event.is_genuine for event in shop.received} == {True}
            assert first_arrivals(shop) == order
            twice = [id_ for id_, times in Counter(event.id for event in shop.received).items() if times > 1]
            print(f"{len(order)} events, {before} requests before the promotion, {len(twice)} events twice")
        unsent = "SELECT count(*) FROM notifications_delivery WHERE state <> 'sent'"
        wait_for(lambda: replica.ask(unsent) == [(0,)], SECONDS)
