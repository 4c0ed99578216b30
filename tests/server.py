"""The real server as a process of its own, with a database, a folder and a port of its own."""

import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests import databases

ROOT = Path(__file__).resolve().parent.parent
ON_POSTGRES = os.environ.get("BACKEND") == "postgres"
START_SECONDS = 180
STOP_SECONDS = 40


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class RunningServer:
    """`manage.py serve`, started, killed and started again on the same port and data."""

    # What a client needs to trust it; None for plain HTTP.
    tls = None
    # Whether it makes the tables itself instead of getting a copy of a migrated database (SQLite).
    empty = False
    # The checkout whose code runs.
    code = ROOT

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
        # Not every reader treats an empty value as unset.
        for name in ("DATABASE_URL", "REDIS_URL"):
            if not self.environment[name]:
                del self.environment[name]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str, demo: bool = False) -> None:
        """Start and wait until it answers. AssertionError with its output when it does not."""
        command = [sys.executable, "manage.py", "serve", "--prepare", "--port", str(self.port)]
        if not demo:
            command.append("--no-demo")
        if not self.empty and "DATABASE_URL" not in self.environment:
            databases.copy_sqlite(Path(self.environment["VAR_DIR"]))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], cwd=self.code, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.output()
            if self.answers():
                return
            time.sleep(0.1)
        raise AssertionError(f"no answer within {START_SECONDS} s\n{self.output()}")

    def answers(self) -> bool:
        # Not httpx: asked every 0.1 s, its TLS settings would cost more than the answers.
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

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
