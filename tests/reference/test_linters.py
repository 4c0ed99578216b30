"""The linters that API developers use find nothing in the documents: Redocly and Spectral with their recommended rules."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from tests.node import needs_npm
from tests.server import ROOT

pytestmark = [pytest.mark.once, needs_npm, pytest.mark.timeout(1200)]
CONFIGURATION = Path(__file__).with_name("linters")
OPENAPI = ROOT / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder with both programs, in the versions of the lock file. It is kept in the user's cache."""
    lock = (CONFIGURATION / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parley-tests"
    place = cache / f"linters-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not place.exists():
        cache.mkdir(parents=True, exist_ok=True)
        install(fresh := tmp_path_factory.mktemp("linters"))
        moved = cache / f"{place.name}.{os.getpid()}"
        shutil.move(fresh, moved)
        try:
            moved.rename(place)
        except OSError:
            shutil.rmtree(moved)  # another run was first
    return place / "node_modules" / ".bin"


def install(folder):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(CONFIGURATION / name, folder / name)
    options = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--fetch-retries",
        "1",
        "--fetch-retry-mintimeout",
        "1000",
    ]
    done = run("npm", "ci", *options, "--prefix", folder)
    if done.returncode != 0 and run("npm", "ping", "--fetch-retries", "0").returncode != 0:
        pytest.skip("the npm registry cannot be reached")
    assert done.returncode == 0, done.stderr[-2000:]


def run(*command):
    # Neither program is to report its use.
    env = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"}
    return subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, check=False, timeout=600)


def redocly(programs, document):
    options = ["--config", CONFIGURATION / "redocly.yaml", "--format", "json"]
    done = run(programs / "redocly", "lint", document, *options)
    return [f"{one['ruleId']}: {one['message']}" for one in json.loads(done.stdout)["problems"]]


def spectral(programs, *documents):
    options = ["--ruleset", CONFIGURATION / "spectral.yaml", "--format", "json", "--quiet"]
    done = run(programs / "spectral", "lint", *documents, *options)
    assert done.returncode in (0, 1), done.stderr
    # 0 is an error and 1 a warning; what follows are remarks, such as that there is a newer AsyncAPI.
    problems = [one for one in json.loads(done.stdout) if one["severity"] <= 1]
    return [(Path(one["source"]).name, one["code"]) for one in problems]


@pytest.mark.slow
def test_redocly_finds_nothing(programs, tmp_path):
    assert redocly(programs, OPENAPI) == []
    document = json.loads(OPENAPI.read_text())
    del document["paths"]["/api/v1/auth/login"]["post"]["summary"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(document))
    assert [one.partition(":")[0] for one in redocly(programs, wrong)] == ["operation-summary"]


@pytest.mark.slow
def test_spectral_finds_nothing(programs, tmp_path):
    shown = Client().get("/api/v1/realtime/schema").json()
    asyncapi, wrong = tmp_path / "asyncapi.json", tmp_path / "wrong.json"
    asyncapi.write_text(json.dumps(shown))
    del shown["info"]["contact"]
    wrong.write_text(json.dumps(shown))
    assert spectral(programs, OPENAPI, asyncapi, wrong) == [("wrong.json", "asyncapi-info-contact")]
