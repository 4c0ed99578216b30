"""Node for the tests of the SDK and of the client's texts: version 20 is the oldest that has a WebSocket."""

import shutil
import subprocess

import pytest

OLDEST = 20
NODE = shutil.which("node")


def problem(node: str | None = NODE) -> str:
    """Why the tests cannot run with this Node, or an empty string."""
    if node is None:
        return f"no Node {OLDEST} or newer"
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    is_new_enough = found.startswith("v") and int(found[1:].split(".")[0]) >= OLDEST
    return "" if is_new_enough else f"no Node {OLDEST} or newer (this is {found or 'broken'})"


PROBLEM = problem()
needs_node = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM)
needs_npm = pytest.mark.skipif(
    bool(PROBLEM) or shutil.which("npm") is None, reason=PROBLEM or "no npm (apt-get install npm)"
)
