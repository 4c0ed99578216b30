"""The sub-commands of `dev.py` and their options."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Sequence

from devtools.checks import lint
from devtools.commands import doctor, reset, run
from devtools.environment import PYTHON, ROOT, manage, report, setup
from devtools.testing import test


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="dev.py", description="Set Parley up, run it and test it.", epilog="Start with: python3 dev.py run"
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    one = commands.add_parser("setup", help="make .venv and install what the product needs")
    one.add_argument("--dev", action="store_true", help="also what tests and checks need")

    one = commands.add_parser("run", help="set up what is missing, then serve the whole product")
    one.add_argument("--host", help="address to listen on (127.0.0.1)")
    one.add_argument("--port", type=int, help="port to listen on; without it 8000, or the next free one")
    one.add_argument("--no-demo", action="store_true", help="create no demo users")
    one.add_argument("--seed", type=int, help="the same demo users and messages on every machine, for tests of an app")

    one = commands.add_parser("test", help="set up what is missing, then run checks and tests")
    one.add_argument("--all", action="store_true", help="a part that this machine cannot run is a failure")
    one.add_argument("--full", action="store_true", help="the long run: every fault and guess in full size (an hour)")
    one.add_argument("--no-lint", action="store_true", help="tests only")
    one.add_argument("--jobs", type=int, choices=[1, 2], help="parts that run at the same time (2; with --full 1)")
    one.add_argument("pytest", nargs="*", metavar="-- ARG", help="what follows -- goes to pytest")

    commands.add_parser("lint", help="style, types, imports, migrations, schema file, translations")
    one = commands.add_parser("sdk", help="generate client code into var/sdk")
    one.add_argument("language", choices=["typescript", "python", "kotlin", "swift", "dart", "collection"])

    commands.add_parser("doctor", help="report what is missing and how to fix it")

    one = commands.add_parser("translations", help="compile the translations")
    one.add_argument("--update", action="store_true", help="first collect new texts from the sources")

    one = commands.add_parser("screenshots", help="pictures of every page into var/screenshots; needs Chromium")
    one.add_argument("--only", default="", help="pages whose name contains this")
    one.add_argument("--readme", action="store_true", help="write the README's pictures to docs/images")

    one = commands.add_parser("reset", help="remove var/: database, mails, media, keys")
    one.add_argument("--venv", action="store_true", help="also remove .venv")
    one.add_argument("--yes", action="store_true", help="do not ask")
    return top


def main(arguments: Sequence[str]) -> int:
    own, _, rest = split_at(list(arguments), "--")
    options = parser().parse_args(own)
    if options.command == "test":
        options.pytest += rest

    def linted() -> int:
        setup(dev=True)
        return 1 if lint() else 0

    def translations() -> int:
        setup()
        return manage("translations", *(["--update"] if options.update else []))

    def set_up() -> int:
        setup(dev=options.dev)
        report("Ready. Next: python3 dev.py run")
        return 0

    def sdk() -> int:
        setup()
        return manage("sdk", options.language)

    def screenshots() -> int:
        setup(dev=True)
        chosen = ["--only", options.only, *(["--readme"] if options.readme else [])]
        command = [str(PYTHON), "-m", "tests.browser.screenshots", *chosen]
        return subprocess.run(command, cwd=ROOT, check=False).returncode

    actions: dict[str, Callable[[], int]] = {
        "sdk": sdk,
        "setup": set_up,
        "run": lambda: run(options),
        "test": lambda: test(options),
        "lint": linted,
        "doctor": doctor,
        "translations": translations,
        "screenshots": screenshots,
        "reset": lambda: reset(options),
    }
    return actions[options.command]()


def split_at(items: list[str], mark: str) -> tuple[list[str], str, list[str]]:
    """Split a list at the first `mark`, as str.partition does with a string."""
    if mark not in items:
        return items, "", []
    at = items.index(mark)
    return items[:at], mark, items[at + 1 :]
