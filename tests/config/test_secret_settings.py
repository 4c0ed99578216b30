"""Every secret of the environment has a least length, and with a shorter one nothing starts."""

import re
import secrets
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from core import secret_settings
from tests.config.test_deployment_checks import PRODUCTION, check

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
SECRETIVE = re.compile(r"SECRET|KEY|TOKEN|PASSWORD|PASSPHRASE|CREDENTIAL")
# Files: a reader of them has read access already, and their makers decide on their length.
FILES = {"PUSH_FCM_CREDENTIALS", "IDENTITY_KEYS"}
# A variable that holds more than the secret.
AROUND = {"TOKEN_KEYS": "k1:{}", "EVENT_SOURCES": "blog:{}:post_like"}


def names_of_the_environment():
    """The variables that the sources read, and those that the example of an environment names."""
    sources = "\n".join(path.read_text() for path in (ROOT / "config").rglob("*.py"))
    read = set(
        re.findall(r"""(?:env(?:ironment)?\.\w+|environ\.get|environ)[(\[]\s*["']([A-Z][A-Z0-9_]+)["']""", sources)
    )
    example = re.findall(r"^([A-Z][A-Z0-9_]+)=", (ROOT / "deploy/parley.env.example").read_text(), re.MULTILINE)
    return read | set(example)


def short(name, secret):
    return {name: AROUND.get(name, "{}").format(secret)}


def test_every_secret_is_registered():
    names = names_of_the_environment()
    assert len(names) > 30 and {"SECRET_KEY", "TOKEN_KEYS", "TURN_SECRET", "METRICS_TOKEN"} <= names
    registered = {setting.variable: setting for setting in secret_settings.all_settings()}
    assert {name for name in names if SECRETIVE.search(name)} - FILES - registered.keys() == set()
    assert registered.keys() <= names
    assert all(setting.least_bytes >= 16 and setting.hint for setting in registered.values())


@pytest.mark.parametrize("setting", secret_settings.all_settings(), ids=lambda setting: setting.variable)
@pytest.mark.slow
def test_a_short_secret_is_refused_and_one_of_the_least_length_is_not(tmp_path, setting):
    secret = secrets.token_hex(32)[: setting.least_bytes]
    refused = check(tmp_path, **PRODUCTION | short(setting.variable, secret[1:]))
    assert refused.returncode == 1
    assert f"{setting.variable} " in refused.stderr and "core.E001" in refused.stderr, refused.stderr
    assert f"holds less than {setting.least_bytes} bytes" in refused.stderr and "HINT" in refused.stderr
    assert replace(setting, secrets=lambda: [" " * 64]).is_short()
    assert replace(setting, secrets=lambda: [secret[1:] + "\t" * 64]).is_short()
    # No message repeats it.
    assert secret[1:] not in refused.stderr + refused.stdout
    accepted = check(tmp_path, **PRODUCTION | short(setting.variable, secret))
    # Django itself warns of a SECRET_KEY of less than 50 characters.
    assert "core." not in accepted.stderr and (accepted.returncode == 0 or setting.variable == "SECRET_KEY")


@pytest.mark.parametrize(
    "command", [["manage.py", "serve", "--port", "0"], ["manage.py", "deliver"], ["-c", "import config.wsgi"]]
)
def test_nothing_starts_with_a_short_one(tmp_path, command):
    environment = {
        "PATH": "/usr/bin:/bin",
        "VAR_DIR": str(tmp_path),
        **PRODUCTION,
        "TURN_SECRET": "x",
        "METRICS_TOKEN": "m",
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert "core.E001" in done.stderr
    assert "METRICS_TOKEN holds less" in done.stderr and "TURN_SECRET holds less" in done.stderr


def test_what_the_examples_have_in_place_of_a_secret_is_refused(tmp_path):
    text = (ROOT / "deploy/kubernetes/secret.example.yaml").read_text()
    for setting in secret_settings.all_settings():
        for value in re.findall(rf"^  {setting.variable}: (\S+)$", text, re.MULTILINE):
            assert len(value.rpartition(":")[2]) < setting.least_bytes, setting.variable
