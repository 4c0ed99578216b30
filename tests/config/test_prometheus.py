"""Real Prometheus with the configuration of deploy/: it scrapes a running server, loads the rules and notices a loss."""

import json
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
import yaml
from django.conf import settings

from tests.server import RunningServer, free_port
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Prometheus (package prometheus)"),
]
DEPLOY = Path(settings.BASE_DIR) / "deploy"
# A machine that is busy with other tests starts it slowly.
PATIENCE = 90
TOKEN = "a-token-for-the-figures-of-this-test"


class Prometheus:
    def __init__(self, folder, target):
        self.port = free_port()
        config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        # As documented but for the places, and quicker.
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(DEPLOY / "prometheus/alerts.yml")]
        (folder / "token").write_text(TOKEN)
        (job,) = config["scrape_configs"]
        job["authorization"]["credentials_file"] = str(folder / "token")
        job["static_configs"] = [{"targets": [f"127.0.0.1:{target}"]}]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
        command += [f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"]
        self.process = subprocess.Popen(command, cwd=folder)

    def ask(self, path, **query):
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}/api/v1/{path}", params=query, timeout=10, trust_env=False)
            body = answer.json()
        except (httpx.TransportError, json.JSONDecodeError):
            return None  # not yet
        assert body["status"] == "success", (query, body)
        return body["data"]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path, METRICS_TOKEN=TOKEN)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def prometheus(server, tmp_path):
    folder = tmp_path / "prometheus"
    folder.mkdir()
    started = Prometheus(folder, server.port)
    yield started
    started.stop()


def test_it_scrapes_loads_the_rules_draws_the_dashboard_and_notices_a_loss(server, prometheus):
    targets = wait_for(
        lambda: [t for t in (prometheus.ask("targets") or {}).get("activeTargets", []) if t["health"] == "up"],
        what="a scraped server",
        seconds=PATIENCE,
    )
    assert len(targets) == 1

    def evaluated():
        groups = (prometheus.ask("rules") or {}).get("groups", [])
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if rules and all(rule["health"] == "ok" for rule in rules) else None

    rules = wait_for(evaluated, what="rules that were evaluated without an error", seconds=PATIENCE)
    assert sorted(rule["name"] for rule in rules) == sorted(
        rule["alert"]
        for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"]
        for rule in group["rules"]
    )
    # Of this server no backup was made.
    assert {rule["name"] for rule in rules if rule["state"] != "inactive"} <= {"ParleyBackupOld"}

    panels = json.loads((DEPLOY / "grafana/parley.json").read_text())["panels"]

    def drawn():
        titles = [
            panel["title"]
            for panel in panels
            if any(
                prometheus.ask("query", query=target["expr"].replace("$__rate_interval", "1m"))["result"]
                for target in panel["targets"]
            )
        ]
        # What a server without traffic, Redis and a pool has no figures for is empty, not an error.
        return titles if len(titles) >= len(panels) / 3 else None

    # A rate needs two scrapes.
    wait_for(drawn, what="figures in a third of the panels", seconds=PATIENCE)

    server.kill()

    def alerts():
        return {alert["labels"]["alertname"] for alert in prometheus.ask("alerts")["alerts"]}

    wait_for(lambda: "ParleyDown" in alerts(), what="an alert", seconds=PATIENCE)
    assert alerts() - {"ParleyBackupOld"} == {"ParleyDown"}
