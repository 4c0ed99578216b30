"""`dev.py test`: the checks, then the tests on every database that answers."""

from __future__ import annotations

import argparse
import hashlib
import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from devtools.checks import lint
from devtools.environment import PYTHON, ROOT, say, setup

# The environment variables that set the size of the tests.
FULL_SIZES = {"FULL": "1", "FUZZ": "10000"}
# Independent parts of the tests, the longest first. Two run at the same time: each waits a lot and mostly uses one core.
# The tests without the database (the marker `once`) are two parts.
ON_SQLITE, ON_POSTGRES = "SQLite + memory", "PostgreSQL + Redis"
PARTS = ((ON_POSTGRES, "each"), (ON_SQLITE, "each"), ("browser, once", "browser"), ("other, once", "once"))
NO_TESTS = 5  # pytest's exit code when it found none to run


def test(options: argparse.Namespace) -> int:
    """Lint, then pytest on SQLite + memory and, where they answer, on PostgreSQL + Redis; `--full` in full size."""
    setup(dev=True)
    failed = [f"lint: {name}" for name in lint()] if not options.no_lint else []
    left_out = [] if not options.no_lint else ["lint: switched off by --no-lint"]
    left_out += [f"{part}: {why}" for part, why in missing_parts().items()]

    parts = {name: {"BACKEND": "", "PART": part} for name, part in PARTS}
    if missing := missing_services():
        left_out.append(f"{ON_POSTGRES}: {missing}")
        del parts[ON_POSTGRES]
    else:
        parts[ON_POSTGRES] |= {"BACKEND": "postgres"} | service_urls()
    sizes = FULL_SIZES if options.full else {}
    # Faults in full size measure times: nothing else runs beside them.
    jobs = options.jobs or (1 if options.full else 2)
    ended = []
    with ThreadPoolExecutor(jobs) as pool:
        runs = [PytestRun(name, options.pytest, sizes | env, pool) for name, env in parts.items()]
        for run in runs:
            say(f"\n=== pytest: {run.name} ===")
            ended.append((run.name, run.show(), run.last))
    # A choice of tests may leave a part without any, but not all of them.
    some = any(code != NO_TESTS for _, code, _ in ended)
    failed += [f"pytest: {name}" for name, code, _ in ended if code != 0 and not (some and code == NO_TESTS)]

    if options.all:
        failed += [f"left out: {part}" for part in left_out]
    say()
    for name, _, last in ended:
        say(f"{name}: {last}")
    for line in left_out:
        say(f"Left out: {line}")
    if not left_out:
        say("Nothing was left out.")
    for line in failed:
        say(f"FAILED: {line}")
    say("FAILED" if failed else "All good.")
    return 1 if failed else 0


class PytestRun:
    """One run of pytest in a thread of the pool; its output waits until it is shown."""

    def __init__(self, name: str, arguments: Sequence[str], env: Mapping[str, str], pool: ThreadPoolExecutor) -> None:
        self.name = name
        self.last = ""
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.done = pool.submit(self._run, arguments, env)

    def show(self) -> int:
        """Print the output, as it comes if it is still running. Returns pytest's exit code."""
        while (line := self.lines.get()) is not None:
            print(line, end="", flush=True)
            self.last = line.strip().strip("=").strip() or self.last
        return self.done.result()

    def _run(self, arguments: Sequence[str], env: Mapping[str, str]) -> int:
        command = [str(PYTHON), "-m", "pytest", *arguments]
        if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            command.insert(3, "--color=yes")
        try:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            assert process.stdout is not None
            for line in process.stdout:
                self.lines.put(line)
            return process.wait()
        finally:
            self.lines.put(None)


# --- The services and programs that the tests need ---------------------------------------------------

# A name of its own for every checkout: two of them may be tested at the same time.
DEFAULT_DATABASE = "postgres://postgres@127.0.0.1:5432/parley_" + hashlib.sha256(bytes(ROOT)).hexdigest()[:8]
DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
CHROMIUM = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")


def service_urls() -> dict[str, str]:
    return {
        "TEST_DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or DEFAULT_DATABASE,
        "TEST_REDIS_URL": os.environ.get("TEST_REDIS_URL") or DEFAULT_REDIS,
    }


# Any database of the server will do for a try: the tests make their own.
TRY_POSTGRES = """
import sys, psycopg
psycopg.connect(sys.argv[1], dbname="postgres", connect_timeout=3).close()
"""
TRY_REDIS = """
import sys, redis
redis.Redis.from_url(sys.argv[1], socket_timeout=3, socket_connect_timeout=3).ping()
"""


def missing_services() -> str:
    """Why PostgreSQL + Redis cannot be tested on, or an empty string when both answer."""
    urls = service_urls()
    reasons = []
    for service, url, script in (
        ("PostgreSQL", urls["TEST_DATABASE_URL"], TRY_POSTGRES),
        ("Redis", urls["TEST_REDIS_URL"], TRY_REDIS),
    ):
        tried = subprocess.run([str(PYTHON), "-c", script, url], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            problem = (tried.stderr.strip().splitlines() or ["no answer"])[-1]
            reasons.append(f"{service} does not answer at {without_password(url)} ({problem})")
    return "; ".join(reasons)


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or ''}{parts.path}"


def missing_parts() -> dict[str, str]:
    """Parts of the tests that this machine cannot run → why. The tests themselves skip by the same rule."""
    parts = {}
    if not any(shutil.which(name) for name in CHROMIUM):
        parts["browser tests"] = "no Chromium (apt-get install chromium)"
    if not shutil.which("turnserver"):
        parts["relayed calls"] = "no turnserver (apt-get install coturn)"
    node = shutil.which("node")
    node_version = (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    )
    if int(node_version.strip().lstrip("v").partition(".")[0] or 0) < 20:
        parts["the JavaScript SDK"] = f"no Node 20 or newer{node_version and f' (this is {node_version.strip()})'}"
    if not shutil.which("npm"):
        parts["types of the JavaScript SDK"] = "no npm (apt-get install npm)"
    if not shutil.which("java"):
        parts["compiled Kotlin models"] = "no Java (apt-get install default-jre-headless)"
    # Their servers are their own: what must be there are the programs.
    system = os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin"
    programs = {"nginx": "nginx-light", "redis-server": "redis-server", "openssl": "openssl", "pgbouncer": "pgbouncer"}
    missing_packages = [package for program, package in programs.items() if not shutil.which(program, path=system)]
    if not shutil.which("initdb") and not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        missing_packages.append("postgresql")
    if missing_packages:
        parts["the fleet behind nginx"] = (
            f"no {', '.join(missing_packages)} (apt-get install {' '.join(missing_packages)})"
        )
    return parts
