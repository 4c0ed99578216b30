"""The real server as a process of its own, with a database, a folder and a port of its own."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg

ROOT = Path(__file__).resolve().parent.parent
ON_POSTGRES = os.environ.get("BACKEND") == "postgres"
START_SECONDS = 60
STOP_SECONDS = 40


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class TemporaryDatabase:
    """A PostgreSQL database that exists while the block runs, on the server that the tests use."""

    def __init__(self) -> None:
        parts = urlsplit(os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/parley"))
        self.name = f"parley_flow_{secrets.token_hex(4)}"
        self.url = urlunsplit(parts._replace(path=f"/{self.name}"))
        self.server = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))

    def __enter__(self) -> str:
        self._run(f'CREATE DATABASE "{self.name}"')
        return self.url

    def __exit__(self, *_: object) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')

    def _run(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


class RunningServer:
    """`manage.py serve`, started, killed and started again on the same port and data."""

    # What a client needs to trust it; None for plain HTTP.
    tls = None

    def __init__(self, folder: Path, **environment: str) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in {"BACKEND", "DJANGO_SETTINGS_MODULE"}},
            "VAR_DIR": str(folder / "var"),
            "DEBUG": "1",
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "CHANNEL_PREFIX": f"flow-{secrets.token_hex(4)}",
            "PYTHONUNBUFFERED": "1",
            **environment,
        }
        # An empty value is not "unset" to everybody who reads it.
        for name in ("DATABASE_URL", "REDIS_URL"):
            if not self.environment[name]:
                del self.environment[name]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str, demo: bool = False) -> None:
        """Start and wait until it answers. AssertionError with its output when it does not."""
        command = [sys.executable, "manage.py", "serve", "--prepare", "--port", str(self.port)]
        if not demo:
            command.append("--no-demo")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.output()
            try:
                if httpx.get(f"{self.base}/healthz", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"no answer within {START_SECONDS} s\n{self.output()}")

    def kill(self) -> None:
        """kill -9: nothing is finished, nothing is flushed."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=STOP_SECONDS)
            self.process = None

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=STOP_SECONDS)
        self.process = None
        return code

    def output(self) -> str:
        return self.log.read_text(errors="replace")[-8000:] if self.log.exists() else ""
