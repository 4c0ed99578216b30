"""Each app runs in a project of its own with the layers below it, and imports nothing above them."""

import os
import subprocess
import sys

import pytest

from tests.server import ROOT

LAYERS = ["core", "accounts", "messaging", "notifications"]


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("top", LAYERS[1:])
def test_an_app_and_the_layers_below_it_are_enough(tmp_path, top):
    apps = LAYERS[: LAYERS.index(top) + 1]
    env = {"PATH": os.environ["PATH"], "BARE_APPS": " ".join(reversed(apps)), "BARE_FOLDER": str(tmp_path)}
    command = [sys.executable, "-m", "tests.bare_project.flow"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-len(apps) - 1 :] == [*apps[1:], f"loaded: {' '.join(sorted(apps))}", ""]
