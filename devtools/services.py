"""The services and programs that the tests need: which of them this machine lacks."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from devtools.environment import PYTHON, ROOT

# A name of its own for every checkout: two of them may be tested at the same time.
DEFAULT_DATABASE = "postgres://postgres@127.0.0.1:5432/parley_" + hashlib.sha256(bytes(ROOT)).hexdigest()[:8]
DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
CHROMIUM = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")


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
