"""Servers under load: started as operators start them, watched for the CPU they take, stopped again."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def database_cpu_seconds(address: str) -> float:
    """CPU so far of the connections of this database, which runs on the same machine."""
    with psycopg.connect(address) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()").fetchall()
    return sum(_cpu(pid) for (pid,) in rows)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int

    def cpu_seconds(self) -> float:
        """CPU of the server and its workers so far."""
        return sum(_cpu(pid) for pid in (self.process.pid, *_children(self.process.pid)))

    def memory_mb(self) -> float:
        """Resident memory of the server and its workers."""
        return sum(_rss(pid) for pid in (self.process.pid, *_children(self.process.pid)))

    def worker_memory_mb(self) -> list[float]:
        """Resident memory of each worker."""
        return [_rss(pid) for pid in _children(self.process.pid)]


@contextmanager
def granian(target: str, *, env: dict[str, str], workers: int = 2, threads: int = 4) -> Iterator[Server]:
    """An HTTP server of the fleet: `granian --interface wsgi <target>`."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port),
        "--workers", str(workers), "--blocking-threads", str(threads), "--no-access-log", "--log-level", "error", target,
    ]  # fmt: skip
    # As in deploy/systemd/parley-http@.service.
    with running(command, port, {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} | env) as server:
        yield server


@contextmanager
def running(command: list[str], port: int, env: dict[str, str]) -> Iterator[Server]:
    """Any server that answers /healthz on `port`; its whole process group is stopped at the end."""
    # What a server prints is not part of the result.
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | env, stdout=sys.stderr, start_new_session=True)
    try:
        _wait_for(port, process)
        yield Server(process, port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError("the server did not start")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    own = [int(word) for word in text.split()]
    return own + [grandchild for child in own for grandchild in _children(child)]


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _rss(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1_048_576
    except OSError:
        return 0.0
