"""Node for the tests of the SDK, of the client's texts and of the manifests: version 20 is the oldest that has a WebSocket."""

import shutil
import subprocess
from pathlib import Path

import pytest

OLDEST = 20
NODE = shutil.which("node")


def problem(node: str | None = NODE) -> str:
    """Why the tests cannot run with this Node, or an empty string."""
    if node is None:
        return f"no Node {OLDEST} or newer"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    is_new_enough = version.startswith("v") and int(version[1:].split(".")[0]) >= OLDEST
    return "" if is_new_enough else f"no Node {OLDEST} or newer (this is {version or 'broken'})"


PROBLEM = problem()
needs_node = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM)
needs_npm = pytest.mark.skipif(
    bool(PROBLEM) or shutil.which("npm") is None, reason=PROBLEM or "no npm (apt-get install npm)"
)


def installed(sources: Path, cache: Path) -> Path:
    """A folder with the packages of the lock file in `sources`, kept between runs, away from the folder of a test."""
    lock = (sources / "package-lock.json").read_bytes()
    lock_file = cache / "package-lock.json"
    if not (cache / "node_modules").exists() or not lock_file.exists() or lock_file.read_bytes() != lock:
        cache.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(sources / name, cache / name)
        command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(cache)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"npm could not install {sources.name}: {done.stderr[-2000:]}"
    return cache
