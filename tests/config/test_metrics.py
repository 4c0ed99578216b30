"""What Prometheus finds at /metrics after people have used the service."""

import os
import re
import shutil
import subprocess
import sys

import httpx
import psycopg
import pytest

from messaging.services import conversations, messages
from notifications import selectors
from tests import databases
from tests.parallel import Started, parallel_outcomes
from tests.server import ON_POSTGRES, ROOT, RunningServer
from tests.waiting import wait_for


@pytest.fixture
def scrape(anonymous, settings):
    settings.METRICS_TOKEN = "let me in, please"

    def read() -> dict[str, float]:
        response = anonymous.raw("GET", "/metrics", headers={"Authorization": "Bearer let me in, please"})
        lines = re.findall(r"^(\w+(?:\{[^}]*\})?) ([0-9.e+-]+)$", response.content.decode(), re.MULTILINE)
        return {name: float(value) for name, value in lines}

    return read


def test_the_free_space_of_the_folders_is_told(scrape, settings, tmp_path):
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "absent"
    shown = scrape()
    free, size = (shown[f'parley_disk_{name}_bytes{{folder="var"}}'] for name in ("free", "size"))
    assert 0 < free < size == shutil.disk_usage(tmp_path).total
    assert 'parley_disk_free_bytes{folder="media"}' not in shown
    settings.MEDIA_ROOT.mkdir()
    assert scrape()['parley_disk_size_bytes{folder="media"}'] == size


def test_requests_limits_and_the_queue_are_counted(scrape, anonymous, as_bob, alice, bob, settings):
    before = scrape()
    settings.RATELIMIT_ENABLE = True
    for _ in range(3):
        anonymous.post("/api/v1/auth/resend-otp", {"email": "limits@example.com"})
    anonymous.post("/api/v1/auth/resend-otp", {"email": "limits@example.com"}, status=429)
    as_bob.post("/api/v1/profile/push-token", {"token": "a-token-of-bob"})
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    messages.send(sender=alice, conversation_id=conversation.id, body="hello")
    after = scrape()
    limited = 'parley_limits_hit_total{error="rate_limited"}'
    assert after[limited] == before.get(limited, 0) + 1
    route = 'parley_http_requests_total{method="POST",route="api/v1/auth/resend-otp",status="429"}'
    assert after[route] == before.get(route, 0) + 1
    assert (
        after['parley_deliveries{channel="push",state="pending"}']
        == selectors.delivery_figures()["deliveries"]["push"]["pending"]
    )
    assert after["parley_sockets_open"] == 0
    assert "parley_event_delivery_seconds_count" in after


COUNT_IN_TWO_PROCESSES = """
import os
import config.wsgi
from server import metrics

count = metrics.REQUESTS.labels("GET", "healthz", 200).inc
child = os.fork()
count(3 if child == 0 else 2)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
print(metrics.generate_latest(metrics.shown).decode())
"""


@pytest.mark.once
@pytest.mark.parametrize(("together", "counted"), [(True, 5), (False, 2)])
def test_workers_on_one_port_answer_with_their_sum(tmp_path, together, counted):
    environment = {**os.environ, "DEBUG": "1", "DATABASE_URL": "", "REDIS_URL": "", "VAR_DIR": str(tmp_path)}
    if together:
        environment["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path / "metrics")
    command = [sys.executable, "-c", COUNT_IN_TWO_PROCESSES]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    series = 'parley_http_requests_total{method="GET",route="healthz",status="200"}'
    assert f"{series} {counted}.0" in done.stdout
    assert "process_resident_memory_bytes" in done.stdout


@pytest.fixture
def pooled_server(tmp_path):
    with databases.TemporaryDatabase() as url:
        server = RunningServer(
            tmp_path, DATABASE_URL=url, DATABASE_POOL_SIZE="3", METRICS_TOKEN="let me in, please", RATELIMIT_ENABLE="0"
        )
        server.start()
        yield server
        server.stop()


def figures_of(server):
    headers = {"Authorization": "Bearer let me in, please"}
    text = httpx.get(f"{server.base}/metrics", headers=headers, trust_env=False, timeout=30).text
    return {name: float(value) for name, value in re.findall(r"^(parley_\w+) ([0-9.]+)$", text, re.MULTILINE)}


def sign_in(server, number=0):
    form = {"email": f"nobody{number}@example.com", "password": "a password"}
    return httpx.post(f"{server.base}/api/v1/auth/login", json=form, trust_env=False, timeout=30).status_code


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no pool")
def test_the_server_counts_the_connections_of_its_pool(pooled_server):
    sign_in(pooled_server)
    figures = figures_of(pooled_server)
    assert {name for name in figures if name.startswith("parley_database_")} == {
        "parley_database_pool_size",
        "parley_database_pool_available",
    }
    assert figures["parley_database_pool_size"] in (1, 2, 3)
    assert figures["parley_requests_waiting"] == 0


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no pool")
def test_requests_that_wait_for_a_thread_are_counted(pooled_server):
    locked = psycopg.connect(pooled_server.environment["DATABASE_URL"])

    def waiting_and_available():
        figures = figures_of(pooled_server)
        return figures["parley_requests_waiting"], figures["parley_database_pool_available"]

    with locked:
        locked.execute("LOCK TABLE accounts_user")
        answers = Started(lambda: parallel_outcomes(8, lambda number: sign_in(pooled_server, number)))
        # Views that hash passwords get a share of the three threads, which is one: it holds a connection, the others wait.
        wait_for(lambda: waiting_and_available() == (7, 2), what="seven requests that wait for a thread")
    assert set(answers.end()) == {401}
    assert figures_of(pooled_server)["parley_requests_waiting"] == 0
