"""The first command on a new machine fails soon when it cannot work, and says why."""

import sys
from pathlib import Path

import pytest

from devtools import environment
from tests.server import free_port


@pytest.mark.once
def test_a_package_index_out_of_reach_is_reported_at_once(monkeypatch):
    monkeypatch.setattr(environment, "PYTHON", Path(sys.executable))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", f"https://127.0.0.1:{free_port()}/simple")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(environment.Problem, match="No connection to the package index"):
        environment.probe_index("requirements.txt")
