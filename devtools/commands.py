"""`dev.py run`, `doctor` and `reset`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from devtools.environment import (
    PYTHON,
    ROOT,
    VENV,
    Problem,
    digest,
    has_ensurepip,
    installed,
    manage,
    say,
    setup,
    usable_venv,
)


def run(options: argparse.Namespace) -> int:
    setup()
    command = [str(PYTHON), str(ROOT / "manage.py"), "serve", "--prepare"]
    if options.host:
        command += ["--host", options.host]
    if options.port is not None:
        command += ["--port", str(options.port)]
    if options.no_demo:
        command += ["--no-demo"]
    if options.seed is not None:
        command += ["--seed", str(options.seed)]
    os.chdir(ROOT)
    # The product is safe by default; this command is for a developer's machine.
    env = {"DEBUG": "1", **os.environ}
    if os.name != "nt":
        # The server takes this process's place, so Ctrl-C and SIGTERM reach the server alone.
        os.execve(command[0], command, env)
    try:
        return subprocess.run(command, env=env, check=False).returncode
    except KeyboardInterrupt:
        return 0


def doctor() -> int:
    """Report what is present and what is missing, with the command that fixes it."""
    good = True

    def report(ok: bool, what: str, fix: str = "") -> None:
        nonlocal good
        good = good and ok
        say(f"{'ok' if ok else 'MISSING':8}{what}" + (f"\n        → {fix}" if fix and not ok else ""))

    report(True, f"Python {sys.version.split()[0]}")
    if not usable_venv():
        report(has_ensurepip(), "ensurepip", "sudo apt-get install -y --no-install-recommends python3-venv")
    have = installed()
    report(bool(have), ".venv", "python3 dev.py setup")
    report(have.get("main") == digest("main"), "requirements.txt is installed", "python3 dev.py setup")
    if "dev" in have:
        report(have["dev"] == digest("dev"), "requirements-dev.txt is installed", "python3 dev.py setup --dev")
    else:
        say("-       requirements-dev.txt is not installed; `python3 dev.py test` does it")
    if have:
        good = manage("doctor") == 0 and good
    say("All good." if good else "Something is missing; the arrows say how to fix it.")
    return 0 if good else 1


def reset(options: argparse.Namespace) -> int:
    """Delete local data: var/ and, with --venv, .venv."""
    targets = [ROOT / "var"] + ([VENV] if options.venv else [])
    targets = [path for path in targets if path.exists() or path.is_symlink()]
    if not targets:
        say("Nothing to remove.")
        return 0
    if not options.yes:
        names = " and ".join(path.name for path in targets)
        if not sys.stdin.isatty():
            raise Problem(f"This removes {names} with all accounts and messages in it. Say --yes to do it.")
        if input(f"Remove {names} with all accounts and messages in it? [y/N] ").strip().lower() not in {"y", "yes"}:
            say("Nothing was removed.")
            return 1
    for path in targets:
        if path.is_symlink():
            path.unlink()
        else:
            shutil.rmtree(path)
        say(f"Removed {path.name}.")
    return 0
