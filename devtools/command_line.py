"""The sub-commands of `dev.py` and their options."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from devtools.checks import failed_checks, lint, repair, source_checks
from devtools.environment import (
    PYTHON,
    ROOT,
    VENV,
    Problem,
    digest,
    has_ensurepip,
    installed,
    manage,
    report,
    say,
    setup,
    usable_venv,
)
from devtools.releases import release
from devtools.testing import AT_ONCE, test


def main(arguments: Sequence[str]) -> int:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser().parse_args(arguments[:at])
    if options.command == "test":
        options.pytest = [*arguments[at + 1 :]]
    code: int = options.action(options)
    return code


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="dev.py", description="Set Parley up, run it and test it.", epilog="Start with: python3 dev.py run"
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    one = commands.add_parser("setup", help="make .venv and install what the product needs")
    one.set_defaults(action=set_up)
    one.add_argument("--dev", action="store_true", help="also what tests and checks need")

    one = commands.add_parser("run", help="set up what is missing, then serve the whole product")
    one.set_defaults(action=run)
    one.add_argument("--host", help="address to listen on (127.0.0.1)")
    one.add_argument("--port", type=int, help="port to listen on; without it 8000, or the next free one")
    one.add_argument("--no-demo", action="store_true", help="create no demo users")
    one.add_argument("--seed", type=int, help="the same demo users and messages on every machine, for tests of an app")

    one = commands.add_parser(
        "test",
        help="set up what is missing, then run checks and tests",
        epilog="With a path it is one pytest on SQLite, without set-up, checks and second tries.",
    )
    one.set_defaults(action=test)
    one.add_argument(
        "paths", nargs="*", metavar="PATH[::NAME]", help="files, folders or single tests: only these, at once"
    )
    one.add_argument("--fast", action="store_true", help="on SQLite, without the tests marked slow, server or browser")
    one.add_argument(
        "--coverage", action="store_true", help="on SQLite, and show which lines of the product ran in these tests"
    )
    one.add_argument("--all", action="store_true", help="a part that this machine cannot run is a failure")
    one.add_argument("--full", action="store_true", help="the long run: every fault and guess in full size (an hour)")
    one.add_argument("--no-lint", action="store_true", help="tests only")
    one.add_argument(
        "--jobs",
        type=int,
        choices=range(1, AT_ONCE + 1),
        help=f"parts that run at the same time ({AT_ONCE}; with --full 1)",
    )

    one = commands.add_parser("check", help="format, style, layers, types and the client's sources: seconds")
    one.set_defaults(action=checked)

    one = commands.add_parser("fix", help="format, repair what can be repaired, write the generated files anew")
    one.set_defaults(action=fix)

    one = commands.add_parser("lint", help="what `check` does, and whether the generated files are current")
    one.set_defaults(action=linted)

    one = commands.add_parser(
        "sdk", help="generate client code into var/sdk; javascript: its package into var/packages"
    )
    one.set_defaults(action=sdk)
    one.add_argument(
        "language", choices=["javascript", "typescript", "python", "kotlin", "swift", "dart", "collection"]
    )

    one = commands.add_parser("doctor", help="report what is missing and how to fix it")
    one.set_defaults(action=doctor)

    one = commands.add_parser("translations", help="compile the translations")
    one.set_defaults(action=translations)
    one.add_argument("--update", action="store_true", help="first collect new texts from the sources")

    one = commands.add_parser("release", help="make a release: version, change log, record, commit and tag")
    one.set_defaults(action=release)
    one.add_argument("version", help="three numbers, such as 1.2.0")

    one = commands.add_parser("screenshots", help="pictures of every page into var/screenshots; needs Chromium")
    one.set_defaults(action=screenshots)
    one.add_argument("--only", default="", help="pages whose name contains this")
    one.add_argument("--shown", action="store_true", help="write the pictures of the README and the landing page")

    one = commands.add_parser("reset", help="remove var/: database, mails, media, keys")
    one.set_defaults(action=reset)
    one.add_argument("--venv", action="store_true", help="also remove .venv")
    one.add_argument("--yes", action="store_true", help="do not ask")
    return top


def set_up(options: argparse.Namespace) -> int:
    setup(dev=options.dev)
    report("Ready. Next: python3 dev.py run")
    return 0


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


def checked(options: argparse.Namespace) -> int:
    setup(dev=True)
    return 1 if failed_checks(source_checks()) else 0


def fix(options: argparse.Namespace) -> int:
    setup(dev=True)
    return repair()


def linted(options: argparse.Namespace) -> int:
    setup(dev=True)
    return 1 if lint() else 0


def sdk(options: argparse.Namespace) -> int:
    setup()
    return manage("sdk", options.language)


def translations(options: argparse.Namespace) -> int:
    setup()
    return manage("translations", *(["--update"] if options.update else []))


def screenshots(options: argparse.Namespace) -> int:
    setup(dev=True)
    chosen = ["--only", options.only, *(["--shown"] if options.shown else [])]
    command = [str(PYTHON), "-m", "tests.browser.screenshots", *chosen]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def doctor(options: argparse.Namespace) -> int:
    """Report what is present and what is missing, with the command that fixes it."""
    good = True

    def line(ok: bool, what: str, fix: str = "") -> None:
        nonlocal good
        good = good and ok
        say(f"{'ok' if ok else 'MISSING':8}{what}" + (f"\n        → {fix}" if fix and not ok else ""))

    line(True, f"Python {sys.version.split()[0]}")
    if not usable_venv():
        line(has_ensurepip(), "ensurepip", "sudo apt-get install -y --no-install-recommends python3-venv")
    have = installed()
    line(bool(have), ".venv", "python3 dev.py setup")
    line(have.get("main") == digest("main"), "requirements.txt is installed", "python3 dev.py setup")
    if "dev" in have:
        line(have["dev"] == digest("dev"), "requirements-dev.txt is installed", "python3 dev.py setup --dev")
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
