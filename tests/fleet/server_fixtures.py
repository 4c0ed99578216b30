"""The whole fleet on this machine: two processes of each kind behind nginx, on servers of their own: PgBouncer, a
PostgreSQL that may get a replica, two Redis servers with Sentinel, an object store behind a port that can refuse.

The processes run the commands of deploy/systemd/ with the environment of deploy/parley.env.example.
"""

import configparser
import os
import secrets
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

from tests.faults.proxy import FaultyProxy
from tests.fleet.failover import PgBouncer, WatchedRedis, documented_role
from tests.fleet.processes import Process
from tests.fleet.services import Postgres, Proxy, Redis
from tests.object_store import Bucket
from tests.server import ROOT, free_port

INSTALLED_AT = "/srv/parley/.venv/bin/"


def example_environment() -> dict[str, str]:
    lines = (ROOT / "deploy" / "parley.env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def unit_command(kind: str) -> list[str]:
    """The command of a systemd unit, with this machine's Python in place of the installed one."""
    unit = configparser.RawConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read(ROOT / "deploy" / "systemd" / f"parley-{kind}@.service")
    program, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert program.startswith(INSTALLED_AT)
    # Not resolved: the interpreter of a virtual environment is a link.
    return [str(Path(sys.executable).parent / program.removeprefix(INSTALLED_AT)), *arguments]


def at_port(command: list[str], port: int) -> list[str]:
    return [str(port) if part.endswith("%i") else part for part in command]


class Fleet:
    def __init__(self, mail_url: str) -> None:
        # Not pytest's own folder: PostgreSQL and nginx run as other users, who must get in.
        self.folder = Path(tempfile.mkdtemp(prefix="parley-fleet-"))
        self.folder.chmod(0o755)
        self.media = self.folder / "media"
        self.media.mkdir(mode=0o755)
        self.postgres = Postgres(self._room("postgres", owner="postgres"))
        self.standby_port = free_port()
        self.bouncer = PgBouncer(self._room("pgbouncer", owner="postgres"), to=self.postgres.port)
        self.watched_redis = WatchedRedis(self._room("redis"))
        self.bucket = Bucket()
        self.store_port = FaultyProxy(self.bucket.port)
        self.environment = self._environment(mail_url) | {"MEDIA_URL": self.bucket.url_at(self.store_port.port)}
        self.patched = self.environment | {"DJANGO_SETTINGS_MODULE": "tests.fleet.settings"}
        bounced = self.patched | {"DATABASE_URL": self.bouncer.url, "DATABASE_CONNECTIONS": "bouncer"}
        logs = self._room("logs")
        self.http = [self._server(f"http-{n}", unit_command("http"), logs, bounced) for n in (1, 2)]
        self.sockets = [self._server(f"sockets-{n}", unit_command("sockets"), logs, bounced) for n in (1, 2)]
        self.deliver = [
            Process(f"deliver-{n}", unit_command("deliver"), folder=logs, environment=self.patched, cwd=ROOT)
            for n in (1, 2)
        ]
        for worker in self.deliver:
            worker.is_up = lambda worker=worker: "Delivering." in worker.output()
        self.proxy = Proxy(
            self._room("nginx"),
            http=[self.ports[process.name] for process in self.http],
            sockets=[self.ports[process.name] for process in self.sockets],
            media=self.media,
        )
        self.base = self.proxy.base
        self.tls = ssl.create_default_context(cafile=str(self.proxy.certificate))

    ports: dict[str, int]

    @property
    def redis(self) -> Redis:
        """The one that is primary now."""
        return self.watched_redis.primary

    @property
    def processes(self) -> list[Process]:
        return [*self.http, *self.sockets, *self.deliver]

    def start(self) -> None:
        self.postgres.renew()
        for statement in documented_role():
            self.postgres.administer(statement)
        self.bouncer.process.start()
        self.watched_redis.start()
        self.manage("wait_for_services")
        self.manage("migrate", "--verbosity", "0")
        for process in self.processes:
            process.start(wait=False)
        self.proxy.process.start()
        for process in self.processes:
            process.wait_until_up()

    def close(self) -> None:
        self.proxy.stop()
        for process in self.processes:
            process.kill()
        self.watched_redis.close()
        self.bouncer.process.kill()
        self.postgres.close()
        self.store_port.close()
        self.bucket.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def manage(self, *arguments: str, input: str | None = None) -> str:
        """`manage.py` with the fleet's environment; returns what it printed."""
        result = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
            input=input,
        )
        assert result.returncode == 0, f"manage.py {arguments}: {result.stdout}{result.stderr}"
        return result.stdout

    def move_pictures_to_the_disk(self) -> None:
        """As documented: copy, then switch, one HTTP process after the other."""
        self.manage("move_media", "--to", str(self.media))
        self.environment |= {"MEDIA_URL": ""}
        for process in self.http:
            assert process.stop() == 0, process.output()
            process.environment = process.environment | {"MEDIA_URL": ""}
            process.start()

    def client(self, **options) -> httpx.Client:
        return httpx.Client(base_url=self.base, verify=self.tls, timeout=20, **options)

    def empty_media(self) -> None:
        for path in self.media.iterdir():
            shutil.rmtree(path)

    def log_ends(self) -> dict[str, int]:
        """How much each process has written so far, in bytes."""
        return {process.name: process.log.stat().st_size for process in self.processes}

    def tracebacks(self, since: dict[str, int]) -> str:
        """What the processes wrote since `log_ends` that no process should write."""
        logs = {process.name: process.log.read_bytes()[since[process.name] :] for process in self.processes}
        tracebacks = {name: log[log.index(b"Traceback") :][:3000] for name, log in logs.items() if b"Traceback" in log}
        return "\n".join(f"{name}: {log.decode(errors='replace')}" for name, log in tracebacks.items())

    # --- Its parts -----------------------------------------------------------------------------

    def _environment(self, mail_url: str) -> dict[str, str]:
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        # The programs of the server's own version, for `backup` and `restore`.
        environment["PATH"] = f"{self.postgres.binaries}{os.pathsep}{environment['PATH']}"
        own = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "TOKEN_KEYS": f"k1:{secrets.token_urlsafe(48)}",
            "ALLOWED_HOSTS": "127.0.0.1",
            "CSRF_TRUSTED_ORIGINS": "https://127.0.0.1",
            # Both servers, whichever is primary: delivery and commands are connected directly.
            "DATABASE_URL": f"postgres://parley@127.0.0.1:{self.postgres.port},127.0.0.1:{self.standby_port}/parley"
            "?target_session_attrs=read-write",
            "REDIS_URL": self.watched_redis.url,
            "EMAIL_URL": mail_url,
            "VAR_DIR": str(self._room("var")),
            "MEDIA_ROOT": str(self.media),
            "PUSH_BACKEND": "off",
            "PUSH_FCM_CREDENTIALS": "",
            "METRICS_TOKEN": secrets.token_urlsafe(24),
            "TURN_SECRET": secrets.token_urlsafe(24),
        }
        example = example_environment()
        assert own.keys() <= example.keys(), own.keys() - example.keys()
        return environment | example | own | {"PYTHONUNBUFFERED": "1"}

    def _server(self, name: str, command: list[str], logs: Path, environment: dict[str, str]) -> Process:
        port = free_port()
        self.ports = getattr(self, "ports", {}) | {name: port}

        def is_up() -> bool:
            try:
                # A supervisor asks by whatever name: health is no matter of ALLOWED_HOSTS.
                headers = {"Host": "supervisor.example"}
                return httpx.get(f"http://127.0.0.1:{port}/healthz", headers=headers, timeout=2).status_code == 200
            except httpx.TransportError:
                return False

        return Process(name, at_port(command, port), folder=logs, environment=environment, cwd=ROOT, is_up=is_up)

    def _room(self, name: str, owner: str | None = None) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=0o755)
        if owner and os.geteuid() == 0:
            shutil.chown(folder, owner, owner)
        return folder
