"""A PostgreSQL primary with an archive, a replica of it, and the scripts of docs/operations.md."""

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import psycopg

from portal.docs import markdown
from tests.fleet.processes import wait_until
from tests.fleet.services import IS_ROOT, Postgres
from tests.server import ROOT, free_port


def documented(section: str) -> list[str]:
    """The shell scripts of a section of docs/operations.md."""
    text = markdown.section((ROOT / "docs" / "operations.md").read_text(encoding="utf-8"), section)
    return re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def documented_settings() -> list[str]:
    """What the page puts into postgresql.conf of a primary with an archive."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```\n(archive_mode.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found.splitlines()


class Primary(Postgres):
    """A cluster with an archive; a folder that PostgreSQL's user may enter, with its own removal."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="parley-postgres-"))
        self.root.chmod(0o755)
        folder, self.archive = self.own("clusters"), self.own("archive")
        super().__init__(folder)

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator[Self]:
        started = cls()
        try:
            started.begin()
            yield started
        finally:
            started.remove()

    def url_beside(self, port: int) -> str:
        """The DATABASE_URL of a process that finds whichever of this server and the one at `port` is primary."""
        hosts = f"127.0.0.1:{self.port},127.0.0.1:{port}"
        return f"postgres://parley@{hosts}/parley?target_session_attrs=read-write"

    def own(self, name: str) -> Path:
        """A folder of PostgreSQL's user."""
        folder = self.root / name
        folder.mkdir(mode=0o755)
        if IS_ROOT:
            shutil.chown(folder, "postgres", "postgres")
        return folder

    def begin(self) -> None:
        """Starts an empty cluster with the documented settings."""
        self.renew()
        self.stop()
        lines = [line.replace("/srv/archive", str(self.archive)) for line in documented_settings()]
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write("\n".join(lines) + "\n")
        self.start()

    def come_back(self) -> None:
        """Starts again after a kill, without a replica: for a second try of a test."""
        with (self._data / "postgresql.auto.conf").open("a") as settings:
            settings.write("synchronous_standby_names = ''\n")
        self.start()

    def remove(self) -> None:
        self.close()
        shutil.rmtree(self.root, ignore_errors=True)


class Replica:
    """A synchronous replica, from the moment of `follow` on."""

    def __init__(self, primary: Postgres, *, port: int | None = None) -> None:
        self.primary = primary
        self.port = port or free_port()
        self.data = primary.folder / f"replica-{self.port}"

    def follow(self) -> None:
        tool = primary_tool(self.primary)
        copy = (
            f'rm -rf "$REPLICA"; {tool} --pgdata="$REPLICA" --checkpoint=fast --wal-method=stream --write-recovery-conf'
        )
        self.primary.script(copy, REPLICA=self.data)
        with (self.data / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"port = {self.port}\nsynchronous_standby_names = ''\narchive_mode = off\n")
        start = 'pg_ctl start --wait --silent --pgdata="$REPLICA" --log="$REPLICA/server.log"'
        self.primary.script(start, REPLICA=self.data)
        self.primary.administer("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.administer("SELECT pg_reload_conf()")
        state = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_until(lambda: self.primary.administer(state), what="a synchronous replica")

    def promote(self) -> None:
        (script,) = documented("Fail-over")
        self.primary.script(script, REPLICA=self.data)

    def as_primary(self) -> Postgres:
        """What it is once it is promoted."""
        return Postgres(self.primary.folder, port=self.port, data=self.data)

    def ask(self, statement: str) -> list[tuple]:
        with psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/parley") as connection:
            return connection.execute(statement).fetchall()

    def stop(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.primary.script('pg_ctl stop --silent --mode immediate --pgdata="$REPLICA"', REPLICA=self.data)


def primary_tool(primary: Postgres) -> str:
    return f"pg_basebackup --host=127.0.0.1 --port={primary.port} --username=postgres"
