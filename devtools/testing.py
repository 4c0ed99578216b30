"""`dev.py test`: the checks, then the tests on every database that answers; or only a few tests."""

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

from devtools import javascript
from devtools.checks import lint
from devtools.environment import PYTHON, ROOT, say, setup

# The environment variables that set the size of the tests.
FULL_SIZES = {"FULL": "1", "FUZZ": "10000"}
# Independent parts of the tests, the longest first. Three run at the same time: each waits for servers and browsers much
# of the time. The tests without the database (the marker `once`) are three parts.
SQLITE, POSTGRES = "SQLite + memory", "PostgreSQL + Redis"
PARTS = (
    ("browser, once", SQLITE, "browser"),
    (POSTGRES, POSTGRES, "each"),
    ("other, once", SQLITE, "once"),
    (SQLITE, SQLITE, "each"),
    ("Firefox, once", SQLITE, "firefox"),
    ("the fleet", POSTGRES, "fleet"),
)
AT_ONCE = 3
NO_TESTS = 5  # pytest's exit code when it found no tests


# For quick runs: no second tries, the migrated database of an earlier run, and no plugins that take seconds to load.
AT_THE_DESK = ("-p", "no:schemathesis", "--reuse-db", "-q")
FAST = "not slow and not server and not browser"
# As pyproject.toml says.
COVERAGE_PAGES = ROOT / "var" / "coverage" / "index.html"


def test(options: argparse.Namespace) -> int:
    """Lint, then pytest on SQLite + memory and, where they answer, on PostgreSQL + Redis; `--full` in full size.

    With paths, with `--fast` or with `--coverage`: one pytest on SQLite and nothing else.
    """
    if options.paths or options.fast or options.coverage:
        chosen = [*options.paths, *(["-m", FAST] if options.fast else []), *options.pytest]
        return at_the_desk(chosen, with_coverage=options.coverage)
    setup(dev=True)
    failed = [f"lint: {name}" for name in lint()] if not options.no_lint else []
    left_out = [] if not options.no_lint else ["lint: switched off by --no-lint"]
    if not options.no_lint and (why := javascript.missing()):
        left_out.append(f"biome, tsc and static/built/: {why}")
    left_out += [f"{part}: {why}" for part, why in missing_parts().items()]

    on_postgres = {"BACKEND": "postgres"} | service_urls()
    parts = {
        name: {"PART": part} | (on_postgres if services == POSTGRES else {"BACKEND": ""})
        for name, services, part in PARTS
    }
    if missing := missing_services():
        of_postgres = [name for name, services, _ in PARTS if services == POSTGRES]
        left_out.append(f"{', '.join(of_postgres)}: {missing}")
        for name in of_postgres:
            del parts[name]
    sizes = FULL_SIZES if options.full else {}
    # Faults in full size measure times, so nothing else runs beside them.
    jobs = options.jobs or (1 if options.full else AT_ONCE)
    ended = []
    with ThreadPoolExecutor(jobs) as pool:
        runs = [PytestRun(name, options.pytest, sizes | env, pool) for name, env in parts.items()]
        for run in runs:
            say(f"\n=== pytest: {run.name} ===")
            ended.append((run.name, run.show(), run.last))
    # A selection of tests may leave some parts empty, but not all.
    some = any(code != NO_TESTS for _, code, _ in ended)
    failed += [f"pytest: {name}" for name, code, _ in ended if code != 0 and not (some and code == NO_TESTS)]

    if options.all:
        failed += [f"left out: {part}" for part in left_out]
    # Not every system has it among its packages.
    if not any(shutil.which(name) for name in FIREFOX):
        left_out.append("the tests in Firefox: no Firefox (apt-get install firefox-esr)")
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


def at_the_desk(arguments: Sequence[str], *, with_coverage: bool = False) -> int:
    """One pytest on SQLite; the set-up only where there is none. Returns its exit code."""
    if with_coverage or not PYTHON.exists():
        setup(dev=True)
    env = {**os.environ, "BACKEND": "", "PART": "", "REUSE_DATABASE": "1", "COVERAGE_CORE": coverage_core()}
    through = ["-m", "coverage", "run"] if with_coverage else []
    code = subprocess.run(
        [str(PYTHON), *through, "-m", "pytest", *AT_THE_DESK, *arguments], cwd=ROOT, env=env, check=False
    ).returncode
    if with_coverage:
        for report in (["html", "--quiet"], ["report"]):
            subprocess.run([str(PYTHON), "-m", "coverage", *report], cwd=ROOT, env=env, check=False)
        say(f"Line by line: {COVERAGE_PAGES}")
    return code


def coverage_core() -> str:
    """How coverage.py sees which lines run: by events of the interpreter, which cost little, from Python 3.12 on; before
    it by a trace function in C, which makes tests take 1.8 times as long."""
    return "sysmon" if sys.version_info >= (3, 12) else "ctrace"


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

# Every checkout has its own name, because two may be tested at the same time.
DEFAULT_DATABASE = "postgres://postgres@127.0.0.1:5432/parley_" + hashlib.sha256(bytes(ROOT)).hexdigest()[:8]
DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
FIREFOX = ("firefox-esr", "firefox")
CHROMIUM = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")


def service_urls() -> dict[str, str]:
    return {
        "TEST_DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or DEFAULT_DATABASE,
        "TEST_REDIS_URL": os.environ.get("TEST_REDIS_URL") or DEFAULT_REDIS,
    }


# Any database of the server works for this check; the tests create their own.
TRY_POSTGRES = """
import sys, psycopg
psycopg.connect(sys.argv[1], dbname="postgres", connect_timeout=3).close()
"""
TRY_REDIS = """
import sys, redis
redis.Redis.from_url(sys.argv[1], socket_timeout=3, socket_connect_timeout=3).ping()
"""


def missing_services() -> str:
    """The reason why the tests cannot use PostgreSQL + Redis, or an empty string when both answer."""
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
    # These tests start their own servers, so only the programs must be installed.
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
