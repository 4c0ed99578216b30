"""The alert rules and the dashboard name what /metrics has and what the runbook says."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from prometheus_client import REGISTRY

from server import metrics

pytestmark = pytest.mark.once
ROOT = Path(settings.BASE_DIR)
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
DASHBOARD = ROOT / "deploy/grafana/parley.json"
# Of Prometheus itself, and of collectors that yield something only with a pool, Redis or data.
GIVEN = {"up", "process_resident_memory_bytes"}


def rules():
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def known_names():
    sources = "\n".join(
        (ROOT / path).read_text()
        for path in (
            "server/concurrency_limit.py",
            "server/metrics.py",
            "server/middleware.py",
            "realtime/services/event_log.py",
        )
    )
    sources += "".join(f'"parley_webhook_{name}"' for name in metrics.WEBHOOK_FIGURES)
    names = {name for metric in REGISTRY.collect() for name in (metric.name, *(s.name for s in metric.samples))}
    declared = set(re.findall(r'"(parley_\w+)"', sources)) | {
        f"parley_database_{name}" for name in re.findall(r'"(pool_\w+)":', sources)
    }
    endings = ("", "_total", "_bucket", "_count", "_sum")
    return GIVEN | {name + ending for name in names | declared for ending in endings}


def test_every_alert_and_panel_reads_a_metric_that_exists(db):
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [rule["expr"] for rule in rules()]
    expressions += [target["expr"] for panel in panels for target in panel["targets"]]
    used = {name for expression in expressions for name in re.findall(r"\b(?:parley|process)_\w+", expression)}
    assert len(used) > 10
    assert used - known_names() == set()


def test_every_alert_names_a_section_of_the_runbook():
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w]+", "-", heading.lower()).strip("-") for heading in headings}
    for rule in rules():
        path, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert path == "docs/operations.md"
        assert anchor in anchors, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (package prometheus)")
def test_each_alert_fires_once_on_purpose():
    tested = yaml.safe_load((ALERTS.parent / "alerts_test.yml").read_text())["tests"][0]
    fired = [re.search(r'"(\w+)"', s["labels"])[1] for s in tested["promql_expr_test"][0]["exp_samples"]]
    assert sorted(fired) == sorted(rule["alert"] for rule in rules())
    result = subprocess.run(
        ["promtool", "test", "rules", "alerts_test.yml"], cwd=ALERTS.parent, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
