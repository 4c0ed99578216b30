"""`dev.py lint`: style, types, imports, migrations, schema file, translations."""

from __future__ import annotations

import filecmp
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devtools.environment import PYTHON, ROOT, say

OPENAPI_OPTIONS = ("--format", "openapi-json", "--validate", "--fail-on-warn")
OPENAPI_UPDATE = ".venv/bin/python manage.py spectacular " + " ".join(OPENAPI_OPTIONS) + " --file docs/openapi.json"


def lint_checks(fresh_schema: Path) -> list[tuple[str, list[str]]]:
    python = str(PYTHON)
    return [
        ("ruff check", [python, "-m", "ruff", "check", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
        ("mypy", [python, "-m", "mypy"]),
        ("import-linter", [python, "-c", "from importlinter.cli import lint_imports_command as run; run()"]),
        ("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        ("OpenAPI", [python, "manage.py", "spectacular", *OPENAPI_OPTIONS, "--file", str(fresh_schema)]),
        ("translations", [python, "manage.py", "translations", "--check"]),
    ]


def lint() -> list[str]:
    """Run every check, whatever the others say. Returns the names of those that failed."""
    failed = []
    env = {"DEBUG": "1", **os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        fresh_schema = Path(folder) / "openapi.json"

        def check(command: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
            started = time.monotonic()
            result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
            return result, time.monotonic() - started

        running = [(name, pool.submit(check, command)) for name, command in lint_checks(fresh_schema)]
        for name, future in running:
            result, seconds = future.result()
            good, output = result.returncode == 0, result.stdout + result.stderr
            if (
                name == "OpenAPI"
                and good
                and not filecmp.cmp(fresh_schema, ROOT / "docs" / "openapi.json", shallow=False)
            ):
                good, output = False, "docs/openapi.json is not what the views say. Update it with: " + OPENAPI_UPDATE
            say(f"{'ok' if good else 'FAILED':7} {name} ({seconds:.1f} s)")
            if not good:
                failed.append(name)
                say(output.rstrip())
    return failed
