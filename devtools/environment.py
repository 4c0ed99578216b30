"""The virtual environment: created when it is missing, installed again when the requirements change."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / ".installed.json"
# Wheels only, with a hash from the file, so nothing is compiled.
PIP_INSTALL = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--retries", "2"]
PIP_INSTALL += ["--only-binary", ":all:", "--require-hashes"]
# pip prints these when the package index cannot be reached.
OFFLINE = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "NewConnectionError",
    "Network is unreachable",
    "NameResolutionError",
    "ConnectTimeoutError",
)
NO_INDEX = "No connection to the package index: check the network, then run the same command again."
# The package index gets this long for a first answer.
PROBE_SECONDS = 7
REQUIREMENTS = {"main": "requirements.txt", "dev": "requirements-dev.txt"}


class Problem(Exception):
    """A problem that the developer has to fix; its text contains the fix."""


def say(text: str = "") -> None:
    print(text, flush=True)


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def digest(name: str) -> str:
    return hashlib.sha256((ROOT / REQUIREMENTS[name]).read_bytes()).hexdigest()


def installed() -> dict[str, str]:
    """The installed requirement sets, with the SHA-256 of their files. Empty without a usable .venv."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    # A .venv that was moved or copied still refers to its old place.
    if not PYTHON.exists() or stamp.get("root") != str(VENV.resolve()):
        return {}
    return {key: str(value) for key, value in stamp.items()}


def setup(*, dev: bool = False) -> None:
    """Create .venv when it is missing and install the pinned wheels when the requirements have changed.

    Raises:
        Problem: Python is too old, `venv` is missing, or the installation failed.
    """
    required = ["main", "dev"] if dev else ["main"]
    installed_sets = installed()
    missing = [name for name in required if installed_sets.get(name) != digest(name)]
    if not missing:
        return
    if not installed_sets and not usable_venv():
        make_venv()
    probe_index(REQUIREMENTS[missing[0]])
    for name in missing:
        report(f"Installing {REQUIREMENTS[name]}: pinned wheels, checked by hash. About a minute, 320 MB on disk.")
        install(REQUIREMENTS[name])
        installed_sets = {**installed_sets, "root": str(VENV.resolve()), name: digest(name)}
        # A changed requirements.txt may change dependencies of the development set, so install that again, too.
        if name == "main" and "dev" not in missing:
            installed_sets.pop("dev", None)
        STAMP.write_text(json.dumps(installed_sets, indent=1) + "\n")


def install(requirements: str) -> None:
    """Run pip, with the number of packages on a terminal; its own output is shown only when it fails."""
    total = sum("==" in line for line in (ROOT / requirements).read_text().splitlines())
    process = subprocess.Popen(
        [*PIP_INSTALL, "-r", requirements], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    output: list[str] = []
    collected = 0
    assert process.stdout is not None
    for line in process.stdout:
        output.append(line)
        collected += line.startswith("Collecting ")
        if sys.stderr.isatty():
            step = "Unpacking …" if line.startswith("Installing collected") else f"Package {collected} of {total}"
            print(f"\r{step:<40}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)
    if process.wait() == 0:
        return
    text = "".join(output)
    if any(mark in text for mark in OFFLINE):
        raise Problem(NO_INDEX)
    report("".join(output[-15:]).rstrip())
    raise Problem(f"Installing {requirements} failed; the lines above say why. When it is fixed: python3 dev.py setup")


def probe_index(requirements: str) -> None:
    """Ask pip for the first package alone, without retries. Without a network this fails soon; the installation would
    fail late.

    Raises:
        Problem: the package index cannot be reached.
    """
    lines = (ROOT / requirements).read_text().splitlines()
    first = next(line.split()[0] for line in lines if "==" in line)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # Without retries pip gives the reason in its detailed output only.
    command += ["-vv", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--retries", "0"]
    command += ["--timeout", str(PROBE_SECONDS), first]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PROBE_SECONDS + 1)
    except subprocess.TimeoutExpired:
        report(f"The package index has not answered for {PROBE_SECONDS + 1} s. Still trying; Ctrl-C stops it.")
        return
    if done.returncode != 0 and any(mark in done.stdout + done.stderr for mark in OFFLINE):
        raise Problem(NO_INDEX)


def usable_venv() -> bool:
    """Whether .venv exists, starts and has pip: an interrupted set-up is repaired instead of kept."""
    if not PYTHON.exists():
        return False
    check = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([str(PYTHON), "-c", check], capture_output=True, check=False).returncode == 0


def make_venv() -> None:
    if VENV.is_symlink():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)
    need_ensurepip()
    report("Making .venv …")
    # Progress and warnings go to stderr, because stdout is for results.
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=sys.stderr, check=False).returncode != 0:
        raise Problem("Making .venv failed; the lines above say why.")


def need_ensurepip() -> None:
    """Debian has `ensurepip` in a package of its own. Install it as root, otherwise print the command."""
    if has_ensurepip():
        return
    line = "apt-get install -y --no-install-recommends python3-venv"
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and shutil.which("apt-get"):
        report("This Python has no ensurepip: installing Debian's python3-venv …")
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        if subprocess.run(line.split(), env=env, stdout=sys.stderr, check=False).returncode != 0:
            subprocess.run(["apt-get", "update", "-q"], env=env, stdout=sys.stderr, check=False)
            subprocess.run(line.split(), env=env, stdout=sys.stderr, check=False)
        if has_ensurepip():
            return
    raise Problem(f"This Python cannot make a virtual environment (ensurepip is missing). Run:\n\n    sudo {line}\n")


def has_ensurepip() -> bool:
    check = [sys.executable, "-c", "import ensurepip, venv"]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def manage(*arguments: str) -> int:
    command = [str(PYTHON), "manage.py", *arguments]
    # As in `run`: this command is for a developer's machine.
    return subprocess.run(command, cwd=ROOT, env={"DEBUG": "1", **os.environ}, check=False).returncode
