"""What the README says about production is true."""

import os
import re
import secrets
import subprocess
import sys

from config import markdown
from tests.server import ROOT


def documented_environment():
    section = markdown.section((ROOT / "README.md").read_text(encoding="utf-8"), "Production")
    block = re.search(r"^```ini\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]
    lines = re.sub(r"<64 random characters>", lambda _: secrets.token_urlsafe(48), block).splitlines()
    return dict(line.split("=", 1) for line in lines)


def check(environment):
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_documented_environment_passes_the_deployment_checks(tmp_path):
    result = check({**documented_environment(), "VAR_DIR": str(tmp_path)})
    assert result.returncode == 0, result.stderr


def test_the_development_settings_do_not(tmp_path):
    result = check({"VAR_DIR": str(tmp_path)})
    assert result.returncode != 0
    assert "security.W018" in result.stderr


def test_without_secrets_production_does_not_start(tmp_path):
    for name in ("SECRET_KEY", "TOKEN_KEYS"):
        environment = {**documented_environment(), "VAR_DIR": str(tmp_path)}
        del environment[name]
        result = check(environment)
        assert result.returncode != 0
        assert name in result.stderr
