"""`check --deploy` fails on a laptop's settings and is clean with the documented production environment; the units of
systemd all have the same protection."""

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from portal.docs import markdown

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]


def documented_environment() -> dict[str, str]:
    """The environment that the documentation shows."""
    section = markdown.section((ROOT / "docs" / "deployment.md").read_text(encoding="utf-8"), "A whole environment")
    block = re.search(r"^```ini\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert block is not None
    lines = re.sub(r"<64 random characters>", lambda _: secrets.token_urlsafe(48), block[1]).splitlines()
    return dict(line.split("=", 1) for line in lines)


PRODUCTION = documented_environment()


def check(tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with nothing but this environment."""
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), **environment}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def test_a_laptop_is_no_deployment(tmp_path):
    result = check(tmp_path)
    assert result.returncode == 1
    for finding in ("parley.W001", "parley.W002", "parley.W003", "notifications.W001", "notifications.W002"):
        assert finding in result.stderr


def test_the_documented_environment_is_clean(tmp_path):
    result = check(tmp_path, **PRODUCTION)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", ["SECRET_KEY", "TOKEN_KEYS"])
def test_without_its_secrets_production_does_not_start(tmp_path, name):
    result = check(tmp_path, **{key: value for key, value in PRODUCTION.items() if key != name})
    assert result.returncode == 1
    assert f"{name} must be set" in result.stderr


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"PUSH_BACKEND": "fcm", "PUSH_FCM_CREDENTIALS": ""}, "notifications.E002"),
        ({"ALLOWED_HOSTS": "*"}, "parley.W004"),
        ({"SITE_URL": "http://chat.example.com"}, "parley.W005"),
        ({"TOKEN_KEYS": f"k1:{PRODUCTION['SECRET_KEY']}"}, "accounts.E002"),
    ],
)
def test_each_finding_says_how_to_mend_it(tmp_path, changes, finding):
    result = check(tmp_path, **(PRODUCTION | changes))
    assert result.returncode == 1
    assert finding in result.stderr
    assert "HINT" in result.stderr


def test_no_service_may_write_outside_of_its_folder():
    units = list((ROOT / "deploy/systemd").glob("*.service"))
    assert len(units) == 5
    protection = {
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateTmp=yes",
        "PrivateDevices=yes",
        "ReadWritePaths=/var/lib/parley",
    }
    for unit in units:
        assert protection <= set(unit.read_text(encoding="utf-8").splitlines()), unit.name
