"""Servers of the fleet's own: PostgreSQL, Redis and nginx, each with its port, its folder and its end."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
import redis

from tests.fleet.processes import Process, wait_until
from tests.server import ROOT, free_port

IS_ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False


def postgres_binaries() -> Path | None:
    """Where Debian keeps the newest installed server, or where `initdb` is on the path."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if versions:
        return versions[-1].parent
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else None


def system_binary(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def missing() -> list[str]:
    """What this machine lacks for a fleet."""
    parts = {"postgresql": postgres_binaries(), "redis-server": shutil.which("redis-server")}
    parts |= {
        "nginx": system_binary("nginx"),
        "openssl": shutil.which("openssl"),
        "pgbouncer": system_binary("pgbouncer"),
    }
    return [name for name, program in parts.items() if not program]


def as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if IS_ROOT else command


def run_as_postgres(command: list[str], *, folder: Path) -> None:
    """Runs a command as PostgreSQL's user; fails with what it wrote to its standard error."""
    result = subprocess.run(
        as_postgres(command),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, f"{command[0]}: {result.stderr}"


class Postgres:
    """A cluster in a folder; `renew` puts an empty one in its place, as a new machine would."""

    def __init__(self, folder: Path, *, port: int | None = None, data: Path | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        # As documented: the role owns its database and is nothing more.
        self.url = f"postgres://parley@127.0.0.1:{self.port}/parley"
        binaries = postgres_binaries()
        assert binaries is not None
        self.binaries = binaries
        self._data = data or folder / "none"

    def renew(self) -> None:
        """An empty cluster with an empty database, started."""
        self._data = self.folder / f"cluster-{len(list(self.folder.glob('cluster-*')))}"
        self._data.mkdir(mode=0o700)
        if IS_ROOT:
            shutil.chown(self._data, "postgres", "postgres")
        self._run("initdb", "--auth", "trust", "--username", "postgres", "--encoding", "UTF8", "--locale", "C.UTF-8")
        # A throw-away cluster: durable against a killed process, not against a power cut.
        lines = [f"port = {self.port}", "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''"]
        lines += ["fsync = off", "shared_buffers = 32MB", "max_connections = 100"]
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write("\n".join(lines) + "\n")
        self.start()
        with psycopg.connect(self._server("postgres"), autocommit=True) as connection:
            connection.execute("CREATE ROLE parley LOGIN")
            connection.execute("CREATE DATABASE parley OWNER parley ENCODING 'UTF8' TEMPLATE template0")

    def start(self) -> None:
        self._run("pg_ctl", "start", "--wait", "--silent", "--log", str(self._data / "server.log"))

    def stop(self, *, how: str = "fast") -> None:
        self._run("pg_ctl", "stop", "--wait", "--silent", "--mode", how)

    def query(self, statement: str) -> list[tuple]:
        with psycopg.connect(self._server("parley")) as connection:
            return connection.execute(statement).fetchall()

    def administer(self, statement: str) -> list[tuple]:
        """A statement of the superuser in the product's database."""
        with psycopg.connect(self._server("parley"), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def script(self, text: str, **environment: object) -> None:
        """Runs a documented script as PostgreSQL's user."""
        variables = {name: str(value) for name, value in environment.items()}
        path = f"{self.binaries}:{os.environ['PATH']}"
        values = [f"{name}={value}" for name, value in {**variables, "PATH": path}.items()]
        run_as_postgres(["env", *values, "bash", "-euc", text], folder=self.folder)

    def kill(self) -> None:
        """kill -9 to the server and each of its processes."""
        server = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        for pid in (server, *map(int, children)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # ended with the others
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def close(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop(how="immediate")

    def _server(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def _run(self, name: str, *arguments: str) -> None:
        run_as_postgres([str(self.binaries / name), "--pgdata", str(self._data), *arguments], folder=self.folder)


class Redis:
    def __init__(self, folder: Path, *, name: str = "redis") -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        # Nothing is kept: whatever Redis holds may be lost at any time.
        self._command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._command += ["--appendonly", "no"]
        self.process = Process(
            name, self._command, folder=folder, environment=dict(os.environ), cwd=folder, is_up=self._answers
        )

    def follow(self, primary: "Redis | None") -> None:
        """What it will be from its next start on: a replica, or a primary."""
        replica_of = ["--replicaof", "127.0.0.1", str(primary.port)] if primary else []
        self.process.command = [*self._command, *replica_of]

    def freeze(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def _answers(self) -> bool:
        client = redis.Redis(port=self.port, socket_timeout=1)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


class Proxy:
    """nginx with deploy/nginx.conf: what differs is asserted to stand there and replaced."""

    def __init__(self, folder: Path, *, http: list[int], sockets: list[int], media: Path) -> None:
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.base = f"https://127.0.0.1:{self.port}"
        self.certificate = folder / "fullchain.pem"
        self._make_certificate()
        (folder / "parley.conf").write_text(self._site(http, sockets, media))
        main = folder / "nginx.conf"
        main.write_text(self._main())
        command = [
            system_binary("nginx") or "nginx",
            "-p",
            str(folder),
            "-c",
            str(main),
            "-e",
            str(folder / "error.log"),
        ]
        self.process = Process(
            "nginx", command, folder=folder, environment=dict(os.environ), cwd=folder, is_up=self._answers
        )

    def errors(self) -> str:
        return (self.folder / "error.log").read_text(errors="replace")

    def stop(self) -> None:
        if self.process._popen is not None:
            self.process.stop(signal.SIGTERM)

    def _site(self, http: list[int], sockets: list[int], media: Path) -> str:
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        places = {
            "127.0.0.1:8101": f"127.0.0.1:{http[0]}",
            "127.0.0.1:8102": f"127.0.0.1:{http[1]}",
            "127.0.0.1:8201": f"127.0.0.1:{sockets[0]}",
            "127.0.0.1:8202": f"127.0.0.1:{sockets[1]}",
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
            "server_name chat.example.com;": "server_name 127.0.0.1;",
            "/etc/ssl/parley/fullchain.pem": str(self.certificate),
            "/etc/ssl/parley/privkey.pem": str(self.folder / "privkey.pem"),
            "/var/log/nginx/parley.log": str(self.folder / "access.log"),
            "/var/lib/parley/media/": f"{media}/",
        }
        for documented, ours in places.items():
            assert documented in text, f"deploy/nginx.conf lacks {documented}"
            text = text.replace(documented, ours)
        return text

    def _main(self) -> str:
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "\n".join(f"  {kind}_temp_path {self.folder / kind};" for kind in kinds)
        user = "user www-data;" if IS_ROOT else ""
        return f"""
{user}
daemon off;
worker_processes 2;
pid {self.folder / "nginx.pid"};
error_log {self.folder / "error.log"} warn;
events {{ worker_connections 1024; }}
http {{
{folders}
  include {self.folder / "parley.conf"};
}}
"""

    def _make_certificate(self) -> None:
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        command += ["-keyout", str(self.folder / "privkey.pem"), "-out", str(self.certificate)]
        subprocess.run(command, check=True, capture_output=True, timeout=30)

    def _answers(self) -> bool:
        # The pid file is written when the listening sockets stand.
        return (self.folder / "nginx.pid").exists() and bool((self.folder / "nginx.pid").read_text().strip())


__all__ = ["Postgres", "Proxy", "Redis", "missing", "wait_until"]
