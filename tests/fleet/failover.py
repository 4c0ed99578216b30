"""What stands between the processes and their data: PgBouncer, and Sentinel over two Redis servers."""

import os
import re
import signal
import time
from pathlib import Path

import psycopg
import redis

from tests.fleet.processes import Process
from tests.fleet.services import IS_ROOT, Redis, system_binary
from tests.server import ROOT, free_port

SERVICE = "parley"
# Until a test lets Sentinel act, it takes a server for dead only after longer than any other test lasts.
PATIENT_MILLISECONDS = 600_000


def documented_role() -> list[str]:
    """What docs/deployment.md tells to set for the role behind PgBouncer."""
    return re.findall(r"^ALTER ROLE .+;$", (ROOT / "docs" / "deployment.md").read_text(), re.MULTILINE)


class PgBouncer:
    """PgBouncer with deploy/pgbouncer.ini: what differs is asserted to stand there and replaced."""

    def __init__(self, folder: Path, *, to: int) -> None:
        self.port = free_port()
        self.url = f"postgres://parley@127.0.0.1:{self.port}/parley"
        self._folder = folder
        self._settings = folder / "pgbouncer.ini"
        self._write(to)
        user = ["-u", "postgres"] if IS_ROOT else []
        command = [system_binary("pgbouncer") or "pgbouncer", *user, str(self._settings)]
        self.process = Process(
            "pgbouncer", command, folder=folder, environment=dict(os.environ), cwd=folder, is_up=self._answers
        )

    def lead_to(self, port: int) -> None:
        """As documented after a promotion: another server in the file, and a reload."""
        self._write(port)
        os.kill(self.process.pid, signal.SIGHUP)

    def show(self, what: str) -> list[dict]:
        """A table of its administration."""
        url = f"postgresql://parley@127.0.0.1:{self.port}/pgbouncer"
        # It speaks the simple protocol only.
        with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
            cursor = connection.execute(f"SHOW {what}")
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _write(self, to: int) -> None:
        text = (ROOT / "deploy" / "pgbouncer.ini").read_text()
        places = {
            "port=5432": f"port={to}",
            "listen_port = 6432": f"listen_port = {self.port}",
            "auth_type = scram-sha-256": f"auth_type = trust\nadmin_users = parley\nunix_socket_dir = {self._folder}",
            "/etc/pgbouncer/userlist.txt": str(self._folder / "userlist.txt"),
            "logfile = /var/log/postgresql/pgbouncer.log\n": "",
            "/var/run/postgresql/pgbouncer.pid": str(self._folder / "pgbouncer.pid"),
        }
        for documented, ours in places.items():
            assert documented in text, f"deploy/pgbouncer.ini lacks {documented}"
            text = text.replace(documented, ours)
        (self._folder / "userlist.txt").write_text('"parley" ""\n')
        self._settings.write_text(text)

    def _answers(self) -> bool:
        try:
            return bool(self.show("VERSION"))
        except psycopg.OperationalError:
            return False


class WatchedRedis:
    """Two Redis servers and the Sentinel that says which of them is primary."""

    def __init__(self, folder: Path) -> None:
        self.primary = Redis(folder)
        self.replica = Redis(folder, name="redis-replica")
        self.replica.follow(self.primary)
        self.port = free_port()
        self.url = f"redis+sentinel://127.0.0.1:{self.port}/{SERVICE}/0"
        settings = folder / "sentinel.conf"
        settings.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {folder}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.primary.port} 1\n"
            f"sentinel down-after-milliseconds {SERVICE} {PATIENT_MILLISECONDS}\n"
            f"sentinel failover-timeout {SERVICE} 2000\n"
        )
        self.sentinel = Process(
            "sentinel",
            ["redis-server", str(settings), "--sentinel"],
            folder=folder,
            environment=dict(os.environ),
            cwd=folder,
            is_up=self._knows_the_replica,
        )

    def start(self) -> None:
        for process in (self.primary.process, self.replica.process):
            process.start()
        self.sentinel.start()

    def close(self) -> None:
        for process in (self.sentinel, self.replica.process, self.primary.process):
            process.kill()

    def act_after(self, milliseconds: int) -> None:
        with self._ask() as sentinel:
            sentinel.sentinel_set(SERVICE, "down-after-milliseconds", milliseconds)

    def fail_over(self) -> None:
        """Kills the primary, waits for the other one to take over, and gives the names their new places."""
        self.act_after(500)
        self.primary.process.kill()
        deadline = time.monotonic() + 60
        while self.primary_port() != self.replica.port:
            assert time.monotonic() < deadline, self.sentinel.output()
            time.sleep(0.1)
        self.primary, self.replica = self.replica, self.primary
        self.primary.follow(None)
        self.replica.follow(self.primary)

    def primary_port(self) -> int:
        with self._ask() as sentinel:
            return int(sentinel.sentinel_get_master_addr_by_name(SERVICE)[1])

    def subscriptions(self) -> int:
        """What socket processes wait for on the primary."""
        with redis.Redis(port=self.primary.port, socket_timeout=2) as client:
            return len(client.pubsub_channels())

    def _ask(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=2, decode_responses=True)

    def _knows_the_replica(self) -> bool:
        try:
            with self._ask() as sentinel:
                return bool(sentinel.sentinel_slaves(SERVICE))
        except redis.RedisError:
            return False
