"""`dev.py check`, `fix` and `lint`: the sources, and the files that are generated from them."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devtools import javascript
from devtools.environment import PYTHON, ROOT, say

OPENAPI_OPTIONS = ("--format", "openapi-json", "--validate", "--fail-on-warn")


Check = tuple[str, list[str]]
IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"


def source_checks() -> list[Check]:
    """The checks of `dev.py check`, which only read the sources."""
    python = str(PYTHON)
    why = javascript.missing()
    if why:
        say(f"left out  biome and tsc, which check the JavaScript: {why}")
    return [
        ("mypy", [python, "-m", "mypy"]),
        ("ruff check", [python, "-m", "ruff", "check", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
        ("import-linter", [python, "-c", IMPORTS]),
        ("released migrations", [python, "-m", "devtools.records"]),
        ("safe migrations", [python, "-m", "tests.upgrades.safe_migrations"]),
        *([] if why else javascript.checks()),
    ]


def generated_checks(fresh_schema: Path) -> list[Check]:
    """The checks whether generated files are current."""
    python = str(PYTHON)
    if not all(map(shutil.which, ("node", "npm"))):
        say("left out  whether the SDK's types are current: Node or npm is not installed")
    why = javascript.missing()
    if why:
        say(f"left out  whether static/built/ is current: {why}")
    return [
        ("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        ("OpenAPI", [python, "manage.py", "spectacular", *OPENAPI_OPTIONS, "--file", str(fresh_schema)]),
        ("translations", [python, "manage.py", "translations", "--check"]),
        ("SDK", [python, "manage.py", "write_sdk", "--check"]),
        *([] if why else [javascript.bundle("--check")]),
    ]


def lint() -> list[str]:
    """Run every check, even after a failure. Returns the names of those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        fresh_schema = Path(folder) / "openapi.json"
        failed = failed_checks([*source_checks(), *generated_checks(fresh_schema)])
        if "OpenAPI" not in failed and not filecmp.cmp(fresh_schema, ROOT / "docs" / "openapi.json", shallow=False):
            say("FAILED  docs/openapi.json is not what the views say. Update it with: python3 dev.py fix")
            failed.append("OpenAPI")
    return failed


def failed_checks(checks: Sequence[Check]) -> list[str]:
    """Run these checks, two at a time, and show their output. Returns the names of those that failed."""

    def run(command: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
        started = time.monotonic()
        result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
        return result, time.monotonic() - started

    failed = []
    with ThreadPoolExecutor(2) as pool:
        running = [(name, pool.submit(run, command)) for name, command in checks]
        for name, future in running:
            result, seconds = future.result()
            say(f"{'ok' if result.returncode == 0 else 'FAILED':7} {name} ({seconds:.1f} s)")
            if result.returncode != 0:
                failed.append(name)
                say((result.stdout + result.stderr).rstrip())
    return failed


def repair() -> int:
    """Format the sources, fix what the linters can fix, and write the generated files again.

    Returns 1 if something is left to fix by hand.
    """
    python = str(PYTHON)
    schema = ["--file", str(ROOT / "docs" / "openapi.json")]
    why = javascript.missing()
    if why:
        say(f"left out  biome, which formats the JavaScript, the types of the SDK and static/built/: {why}")
    steps = [
        ("ruff check --fix", [python, "-m", "ruff", "check", "--fix", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "."]),
        *([] if why else javascript.repairs()),
        ("translations", [python, "manage.py", "translations", "--update"]),
        ("OpenAPI", [python, "manage.py", "spectacular", *OPENAPI_OPTIONS, *schema]),
        ("SDK", [python, "manage.py", "write_sdk"]),
        *([] if why else [javascript.bundle()]),
    ]
    # One after the other: the SDK is written from the document, and what is served of it from the SDK.
    return 1 if [name for name, command in steps if failed_checks([(name, command)])] else 0


def environment() -> dict[str, str]:
    return {"DEBUG": "1", **os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
