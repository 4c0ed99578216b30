"""`check --deploy` fails on a laptop's settings and is clean with the documented production environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PRODUCTION = {
    "DEBUG": "0",
    "SECRET_KEY": "s" * 20 + "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "TOKEN_KEYS": "k1:" + "t0123456789abcdefghijklmnopqrstuvwxyz",
    "ALLOWED_HOSTS": "chat.example.com",
    "DATABASE_URL": "postgres://parley@127.0.0.1:1/parley",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "EMAIL_URL": "smtp://user:password@mail.example.com:587",
    "PUSH_BACKEND": "fcm",
    "PUSH_FCM_CREDENTIALS": "/etc/parley/fcm.json",
    "TURN_URLS": "turn:turn.example.com:3478",
    "TURN_SECRET": "x" * 32,
    "TRUSTED_PROXIES": "1",
}


def check(tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with nothing but this environment."""
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), **environment}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def test_a_laptop_is_no_deployment(tmp_path):
    result = check(tmp_path)
    assert result.returncode == 1
    for number in ("W001", "W002", "W003", "W004", "W006"):
        assert f"parley.{number}" in result.stderr


def test_the_documented_environment_is_clean(tmp_path):
    result = check(tmp_path, **PRODUCTION)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", ["SECRET_KEY", "TOKEN_KEYS"])
def test_without_its_secrets_production_does_not_start(tmp_path, name):
    result = check(tmp_path, **{key: value for key, value in PRODUCTION.items() if key != name})
    assert result.returncode == 1
    assert f"{name} must be set" in result.stderr


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"PUSH_FCM_CREDENTIALS": ""}, "W005"),
        ({"ALLOWED_HOSTS": "*"}, "W007"),
        ({"TOKEN_KEYS": f"k1:{PRODUCTION['SECRET_KEY']}"}, "W008"),
    ],
)
def test_each_finding_says_how_to_mend_it(tmp_path, changes, number):
    result = check(tmp_path, **(PRODUCTION | changes))
    assert result.returncode == 1
    assert f"parley.{number}" in result.stderr
    assert "HINT" in result.stderr
