#!/usr/bin/env python3
"""One file to set Parley up, run it and test it. Standard library only; needs Python 3.11 or newer.

    python3 dev.py run        sets up what is missing, then serves everything on http://127.0.0.1:8000
    python3 dev.py test       sets up what is missing, then runs the checks and the tests

Other sub-commands: setup, lint, doctor, translations, reset, sdk. Nothing needs to be activated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

if sys.version_info < (3, 11):  # noqa: UP036  (run by whatever Python the machine has)
    sys.exit(f"Parley needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / ".installed.json"
# Wheels only: nothing is ever compiled here, and nothing is installed whose hash is not in the file.
PIP_INSTALL = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--retries", "2"]
PIP_INSTALL += ["--only-binary", ":all:", "--require-hashes"]
# What pip prints when the package index cannot be reached.
OFFLINE = ("Failed to establish a new connection", "Temporary failure in name resolution", "NewConnectionError")
OFFLINE += ("Network is unreachable", "NameResolutionError", "ConnectTimeoutError")
NO_INDEX = "No connection to the package index: check the network, then run the same command again."
# The package index gets this long for a first answer.
PROBE_SECONDS = 7
REQUIREMENTS = {"main": "requirements.txt", "dev": "requirements-dev.txt"}

# A name of its own for every checkout: two of them may be tested at the same time.
DEFAULT_DATABASE = "postgres://postgres@127.0.0.1:5432/parley_" + hashlib.sha256(bytes(ROOT)).hexdigest()[:8]
DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
# The environment variables that set the size of the tests.
FULL_SIZES = {"FULL": "1", "FUZZ": "10000"}
CHROMIUM = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")


class Problem(Exception):
    """Something the reader has to fix; its text says what and how."""


def say(text: str = "") -> None:
    print(text, flush=True)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- the virtual environment ---------------------------------------------------------------------------------------


def digest(name: str) -> str:
    return hashlib.sha256((ROOT / REQUIREMENTS[name]).read_bytes()).hexdigest()


def installed() -> dict[str, str]:
    """What the stamp says is installed: requirement set → SHA-256 of its file. Empty when there is no usable .venv."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    # A .venv that was moved or copied keeps its files but points at the old place.
    if not PYTHON.exists() or stamp.get("root") != str(VENV.resolve()):
        return {}
    return {key: str(value) for key, value in stamp.items()}


def setup(*, dev: bool = False) -> None:
    """Make .venv when it is missing and install the pinned wheels when the requirements changed.

    Raises:
        Problem: Python is too old, `venv` is missing, or the installation failed.
    """
    wanted = ["main", "dev"] if dev else ["main"]
    have = installed()
    missing = [name for name in wanted if have.get(name) != digest(name)]
    if not missing:
        return
    if not have and not usable_venv():
        make_venv()
    probe_index(REQUIREMENTS[missing[0]])
    for name in missing:
        note(f"Installing {REQUIREMENTS[name]}: pinned wheels, checked by hash. About a minute, 320 MB on disk.")
        install(REQUIREMENTS[name])
        have = {**have, "root": str(VENV.resolve()), name: digest(name)}
        # A changed requirements.txt may have moved what the development set stands on: install that again, too.
        if name == "main" and "dev" not in missing:
            have.pop("dev", None)
        STAMP.write_text(json.dumps(have, indent=1) + "\n")


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
    note("".join(output[-15:]).rstrip())
    raise Problem(f"Installing {requirements} failed; the lines above say why. When it is fixed: python3 dev.py setup")


def probe_index(requirements: str) -> None:
    """Ask pip for the first package alone, without repeats: without a network this fails soon, the installation late.

    Raises:
        Problem: the package index cannot be reached.
    """
    lines = (ROOT / requirements).read_text().splitlines()
    first = next(line.split()[0] for line in lines if "==" in line)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # Without repeats pip gives the reason in its detailed output only.
    command += ["-vv", "--dry-run", "--no-deps", "--only-binary", ":all:", "--retries", "0"]
    command += ["--timeout", str(PROBE_SECONDS), first]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PROBE_SECONDS + 1)
    except subprocess.TimeoutExpired:
        note(f"The package index has not answered for {PROBE_SECONDS + 1} s. Still trying; Ctrl-C stops it.")
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
    note("Making .venv …")
    run_or_raise([sys.executable, "-m", "venv", str(VENV)], "Making .venv failed; the lines above say why.")


def need_ensurepip() -> None:
    """Debian keeps `ensurepip` in a package of its own; install it as root, otherwise say the one line."""
    if has_ensurepip():
        return
    line = "apt-get install -y --no-install-recommends python3-venv"
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and shutil.which("apt-get"):
        note("This Python has no ensurepip: installing Debian's python3-venv …")
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


def run_or_raise(command: Sequence[str], problem: str) -> None:
    # Progress and warnings belong on stderr; stdout stays for what was asked for.
    if subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False).returncode != 0:
        raise Problem(problem)


def manage(*arguments: str, env: Mapping[str, str] | None = None) -> int:
    command = [str(PYTHON), "manage.py", *arguments]
    # As `run` does: this file is for a developer's machine.
    return subprocess.run(command, cwd=ROOT, env={"DEBUG": "1", **os.environ, **(env or {})}, check=False).returncode


# --- run -----------------------------------------------------------------------------------------------------------


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


# --- lint ----------------------------------------------------------------------------------------------------------


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
            if name == "OpenAPI" and good and not same_content(fresh_schema, ROOT / "docs" / "openapi.json"):
                good, output = False, "docs/openapi.json is not what the views say. Update it with: " + OPENAPI_UPDATE
            say(f"{'ok' if good else 'FAILED':7} {name} ({seconds:.1f} s)")
            if not good:
                failed.append(name)
                say(output.rstrip())
    return failed


def same_content(one: Path, other: Path) -> bool:
    return other.exists() and one.read_bytes() == other.read_bytes()


# --- test ----------------------------------------------------------------------------------------------------------


# The tests in parts that need nothing of each other. Two run at the same time: each part waits a lot, and uses one core
# at most times. The longest come first. What knows nothing of the database (the marker `once`) is two parts.
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


def service_urls() -> dict[str, str]:
    return {
        "TEST_DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or DEFAULT_DATABASE,
        "TEST_REDIS_URL": os.environ.get("TEST_REDIS_URL") or DEFAULT_REDIS,
    }


def missing_services() -> str:
    """Why PostgreSQL + Redis cannot be tested on, or an empty string when both answer."""
    urls = service_urls()
    reasons = []
    if problem := postgres_problem(urls["TEST_DATABASE_URL"]):
        reasons.append(f"PostgreSQL does not answer at {without_password(urls['TEST_DATABASE_URL'])} ({problem})")
    if problem := redis_problem(urls["TEST_REDIS_URL"]):
        reasons.append(f"Redis does not answer at {without_password(urls['TEST_REDIS_URL'])} ({problem})")
    return "; ".join(reasons)


def postgres_problem(url: str) -> str:
    # Any database of the server will do for a try: the tests make their own.
    script = (
        "import sys, psycopg\n"
        "from urllib.parse import urlsplit, unquote\n"
        "u = urlsplit(sys.argv[1])\n"
        "psycopg.connect(host=u.hostname, port=u.port or 5432, user=unquote(u.username or 'postgres'),\n"
        "    password=unquote(u.password or ''), dbname='postgres', connect_timeout=3).close()\n"
    )
    result = subprocess.run([str(PYTHON), "-c", script, url], capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else (result.stderr.strip().splitlines() or ["no answer"])[-1]


def redis_problem(url: str) -> str:
    script = "import sys, redis\nredis.Redis.from_url(sys.argv[1], socket_timeout=3, socket_connect_timeout=3).ping()\n"
    result = subprocess.run([str(PYTHON), "-c", script, url], capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else (result.stderr.strip().splitlines() or ["no answer"])[-1]


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
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    if int(found.strip().lstrip("v").partition(".")[0] or 0) < 20:
        parts["the JavaScript SDK"] = f"no Node 20 or newer{found and f' (this is {found.strip()})'}"
    if not shutil.which("npm"):
        parts["types of the JavaScript SDK"] = "no npm (apt-get install npm)"
    # Their servers are their own: what must be there are the programs.
    system = os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin"
    programs = {"nginx": "nginx-light", "redis-server": "redis-server", "openssl": "openssl"}
    lacking = [package for program, package in programs.items() if not shutil.which(program, path=system)]
    if not shutil.which("initdb") and not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        lacking.append("postgresql")
    if lacking:
        parts["the fleet behind nginx"] = f"no {', '.join(lacking)} (apt-get install {' '.join(lacking)})"
    return parts


# --- doctor, translations, reset ---------------------------------------------------------------------------------------


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


# --- the command line ----------------------------------------------------------------------------------------------


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
    one.add_argument("--no-demo", action="store_true", help="do not make the demo people")
    one.add_argument("--seed", type=int, help="the same demo passwords on every machine, for tests of an app")

    one = commands.add_parser("test", help="set up what is missing, then run checks and tests")
    one.add_argument("--all", action="store_true", help="a part that this machine cannot run is a failure")
    one.add_argument("--full", action="store_true", help="the long run: every fault and guess in full size (an hour)")
    one.add_argument("--no-lint", action="store_true", help="tests only")
    one.add_argument("--jobs", type=int, choices=[1, 2], help="parts that run at the same time (2; with --full 1)")
    one.add_argument("pytest", nargs="*", metavar="-- ARG", help="what follows -- goes to pytest")

    commands.add_parser("lint", help="style, types, imports, migrations, schema file, translations")
    one = commands.add_parser("sdk", help="generate client code into var/sdk")
    one.add_argument("language", choices=["typescript", "python", "kotlin", "swift", "dart", "collection"])

    commands.add_parser("doctor", help="say what is missing and how to fix it")

    one = commands.add_parser("translations", help="compile the translations")
    one.add_argument("--update", action="store_true", help="first collect new texts from the sources")

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
        note("Ready. Next: python3 dev.py run")
        return 0

    def sdk() -> int:
        setup()
        return manage("sdk", options.language)

    actions: dict[str, Callable[[], int]] = {
        "sdk": sdk,
        "setup": set_up,
        "run": lambda: run(options),
        "test": lambda: test(options),
        "lint": linted,
        "doctor": doctor,
        "translations": translations,
        "reset": lambda: reset(options),
    }
    return actions[options.command]()


def split_at(items: list[str], mark: str) -> tuple[list[str], str, list[str]]:
    """Split a list at the first `mark`, as str.partition does with a string."""
    if mark not in items:
        return items, "", []
    at = items.index(mark)
    return items[:at], mark, items[at + 1 :]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        note(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
