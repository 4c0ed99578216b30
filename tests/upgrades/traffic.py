"""Migrating a large database while people write and read, killed at bad moments: `python -m tests.upgrades.traffic`.

The code of the last release serves. Four migrations made for the purpose change the messages: a column, an index, a value
for every row, a check. `migrate` is killed with SIGKILL at a moment, and run again to the end. Every request is counted.
`slowest` is the slowest of them, `healthz` the slowest of the requests that need no database, at the same time.
Needs the PostgreSQL server and the Redis of the tests.

    --messages 1000000   the size
    --only backfill      some of the moments, by their names
"""

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psycopg

from benchmarks.database import FILL, without_text_index
from tests.databases import TemporaryDatabase
from tests.fleet.load import Load, Outcome, Writer
from tests.fleet.processes import wait_until
from tests.flows.conftest import MailSink
from tests.flows.people import Person
from tests.server import RunningServer, free_port
from tests.upgrades import code
from tests.upgrades.records import VERSIONS

SECONDS = 1_800
# From this size on an index takes long enough to be met while it is built.
LARGE = 500_000
PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 300

HEAD = """
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Length

from core.database.online import AddCheckOnline, AddIndexOnline, Backfill


class Migration(migrations.Migration):
    atomic = %s
    dependencies = [("messaging", "{last}")]
    operations = [%s]
"""
# The column comes in a transaction: the session of a killed `migrate` would add it, and the next one again.
MIGRATIONS = {
    "column": 'migrations.AddField("message", "letters", models.IntegerField(null=True))',
    "index": 'AddIndexOnline("message", models.Index(fields=["sender", "created_at"], name="message_of_sender"))',
    "backfill": (
        'Backfill("messaging", "Message", where=Q(letters=None), values={"letters": Coalesce(Length(F("body")), 0)})'
    ),
    "check": (
        'AddCheckOnline("message", models.CheckConstraint('
        'condition=Q(letters=None) | Q(letters__gte=0), name="message_letters"))'
    ),
}
# What the statement of a migration begins with, and whether it waits for a lock.
WORKS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND query LIKE %s AND (NOT %s OR wait_event_type = 'Lock')
"""
BUILDS = """
SELECT pid FROM pg_stat_progress_create_index WHERE datname = current_database() AND phase LIKE %s
"""


class Everything(Writer):
    """Reads, searches, edits and likes in the large conversation, without a pause between the requests of a round."""

    def __init__(self, person: Person, conversation_id: int, ids: tuple[int, int]) -> None:
        super().__init__(person, conversation_id, pause=PAUSE_SECONDS)
        self.ids = ids

    def run(self) -> None:
        chat = f"/messages/conversations/{self.conversation_id}"
        chosen = random.Random(self.name)
        while not self._ended.is_set():
            number = chosen.randint(*self.ids)
            self._request("GET", f"{chat}/messages?limit=50&before={number}")
            self._request("PATCH", f"/messages/messages/{number}", {"body": f"edited, with the number {number}"})
            self._request("POST", f"/messages/messages/{number}/reactions", {"emoji": "👍"})
            self._request("GET", f"{chat}/search?q=needle")
            self._request("GET", "/messages/conversations?limit=30")
            self._request("GET", "/notifications/unread-count")
            self._ended.wait(self.pause)


class Pulse(Writer):
    """Asks whether the process lives, which needs no database: what is slow here is slow because of the machine."""

    def run(self) -> None:
        while not self._ended.is_set():
            self._request("GET", f"{self.person.server.base}/healthz")
            self._ended.wait(self.pause)


class Filled(NamedTuple):
    """A database of the last release with many messages, and the people whose tokens it knows."""

    database: str
    pair: tuple[Person, Person, int]
    reader: Person
    conversation_id: int
    # The first and the last of the messages.
    ids: tuple[int, int]


@dataclass
class Run:
    """One `migrate` beside the server, with a connection that watches it."""

    url: str
    environment: dict[str, str]
    folder: Path
    ids: tuple[int, int]
    process: subprocess.Popen[bytes] | None = None
    started: list[Path] = field(default_factory=list)

    @property
    def is_large(self) -> bool:
        return self.ids[1] - self.ids[0] >= LARGE

    def start(self, *target: str) -> None:
        said = self.folder / f"migrate-{len(self.started) + 1}.log"
        self.started.append(said)
        with said.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "migrate", *target],
                cwd=self.folder / "next", env=self.environment, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def up_to(self, name: str) -> None:
        """Migrate as far as one of the four: an open transaction would hold up those before the moment, too."""
        self.start("messaging", next(self.folder.glob(f"next/messaging/migrations/*_{name}.py")).stem)
        assert self.finish() == 0, self.said()

    def finish(self) -> int:
        assert self.process is not None
        return self.process.wait(timeout=SECONDS)

    def kill(self) -> None:
        assert self.process is not None
        assert self.process.poll() is None, f"It ended before the moment came:\n{self.said()}"
        self.process.kill()
        self.process.wait()

    def said(self) -> str:
        return self.started[-1].read_text(errors="replace")

    def backends(self, statement: str, *values: object) -> list[tuple[int]]:
        with psycopg.connect(self.url, autocommit=True) as watching:
            return watching.execute(statement.encode(), values).fetchall()

    def wait_for(self, statement: str, *values: object) -> list[tuple[int]]:
        """Until a session of `migrate` does that."""
        assert self.process is not None
        deadline = time.monotonic() + SECONDS
        with psycopg.connect(self.url, autocommit=True) as watching:
            while not (found := watching.execute(statement.encode(), values).fetchall()):
                assert self.process.poll() is None, f"It ended before the moment came:\n{self.said()}"
                assert time.monotonic() < deadline, self.said()
                time.sleep(0.002)
        return found

    @contextlib.contextmanager
    def open_transaction(self, statement: str, *values: object) -> Iterator[None]:
        """The transaction of another session, after this statement."""
        with psycopg.connect(self.url) as other:
            other.execute(statement.encode(), values)
            yield
            other.rollback()


# --- The moments -----------------------------------------------------------------------------------------------------


def lock(run: Run) -> None:
    """A report that takes long reads the table, and `migrate` has waited for it twice."""
    with run.open_transaction("SELECT 1 FROM messaging_message LIMIT 1"):
        run.start()
        wait_until(lambda: run.said().count("A table is in use") >= 2, what="two tries", seconds=SECONDS)
        run.wait_for(WORKS, "ALTER TABLE%", True)
        run.kill()


@contextlib.contextmanager
def building(run: Run) -> Iterator[int]:
    """The session that builds the index. A small one would be built before it is met: it waits for a writer."""
    if run.is_large:
        run.start()
        yield run.wait_for(BUILDS, "building index%")[0][0]
        return
    run.up_to("column")
    with run.open_transaction("LOCK TABLE messaging_message IN ROW EXCLUSIVE MODE"):
        run.start()
        yield run.wait_for(BUILDS, "waiting%")[0][0]


def index(run: Run) -> None:
    """The session goes on building, and the next run waits for it."""
    with building(run):
        run.kill()


def session(run: Run) -> None:
    """The session of PostgreSQL ends as well, as with its machine: an invalid index is left."""
    with building(run) as pid:
        run.kill()
        assert run.backends("SELECT 1 WHERE pg_terminate_backend(%s, 20000)", pid)
    invalid = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('message_of_sender') AND NOT indisvalid"
    assert run.backends(invalid)


def backfill(run: Run) -> None:
    """Half of the rows have their value. A message in the middle is held by another transaction."""
    run.up_to("index")
    middle = sum(run.ids) // 2
    with run.open_transaction("SELECT 1 FROM messaging_message WHERE id = %s FOR UPDATE", middle):
        run.start()
        run.wait_for(WORKS, 'UPDATE "messaging_message" SET "letters"%', True)
        run.kill()
    assert run.backends("SELECT 1 FROM messaging_message WHERE id = %s AND letters > 0", run.ids[0])
    assert run.backends("SELECT 1 FROM messaging_message WHERE id = %s AND letters IS NULL", run.ids[1])


MOMENTS: dict[str, Callable[[Run], None]] = {
    "lock": lock,
    "index": index,
    "session": session,
    "backfill": backfill,
}


# --- The upgrade -----------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """What the requests of an upgrade met. Times in seconds."""

    outcomes: list[Outcome]
    # Of requests that need no database.
    pulse: list[Outcome]
    seconds: float
    runs: int

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in [*self.outcomes, *self.pulse] if not 200 <= outcome.status < 300]

    def slowest(self) -> Outcome:
        return max(self.outcomes, key=_took)

    def pulse_slowest(self) -> float:
        return max(map(_took, self.pulse))

    def within(self, share: float) -> float:
        """The time in which this share of the requests was answered."""
        ordered = sorted(map(_took, self.outcomes))
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _took(outcome: Outcome) -> float:
    return outcome.took


class Upgrade:
    """The last release with many messages, to be migrated to the next one. Usable in its `with` block."""

    def __init__(self, folder: Path, messages: int) -> None:
        self.folder, self.messages = folder, messages
        self.stack = contextlib.ExitStack()

    def __enter__(self) -> "Upgrade":
        with self.stack:
            self.before = code.of_release(VERSIONS[-1], self.folder / "last")
            after = code.checkout(self.folder / "next")
            for name, operation in MIGRATIONS.items():
                code.write_migration(after / "messaging", HEAD % (name == "column", operation), name)
            sink = self.stack.enter_context(MailSink.running(free_port()))
            url = self.stack.enter_context(TemporaryDatabase(empty=True))
            self.server = RunningServer(
                self.folder,
                DATABASE_URL=url,
                REDIS_URL=os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
                EMAIL_URL=sink.url,
                RATELIMIT_ENABLE="0",
            )
            self.server.code, self.server.empty = self.before, True
            self.stack.callback(self.server.kill)
            self.filled = self._fill(url, sink)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def _fill(self, url: str, sink: MailSink) -> Filled:
        self.server.start()
        people = [Person(self.server, name) for name in ("Alice", "Bob", "Carol", "Dave")]
        for person in people:
            self.stack.callback(person.close)
            person.sign_up(sink)
            # What is slow on a busy machine is no failure.
            person.http.timeout = PATIENCE_SECONDS
        chats = [
            first.call("POST", "/messages/conversations", {"user_id": second.id}, status=201)["conversation"]["id"]
            for first, second in (people[:2], people[2:])
        ]
        assert self.server.stop() == 0
        with psycopg.connect(url, autocommit=True) as opened, opened.cursor() as cursor:
            with without_text_index(cursor):
                cursor.execute(FILL, [chats[0], people[0].id, self.messages])
            first, last = cursor.execute("SELECT min(id), max(id) FROM messaging_message").fetchone() or (0, 0)
            cursor.execute(
                "UPDATE messaging_participant SET last_message_id = %s, activity_id = %s, has_written = true,"
                " unread_count = CASE WHEN user_id = %s THEN 0 ELSE %s END WHERE conversation_id = %s",
                [last, last, people[0].id, self.messages, chats[0]],
            )
            cursor.execute("VACUUM ANALYZE")
        return Filled(url.rpartition("/")[2], (people[2], people[3], chats[1]), people[0], chats[0], (first, last))

    def run(self, moments: Sequence[str]) -> Result:
        """Migrate a copy while people write: `migrate` dies at each of the moments, then ends. AssertionError when a
        message is lost, or the database is not what the next release needs."""
        filled = self.filled
        with TemporaryDatabase(template=filled.database) as url:
            self.server.environment["DATABASE_URL"] = url
            self.server.start()
            load = Load([filled.pair], pause=PAUSE_SECONDS)
            everything = Everything(filled.reader, filled.conversation_id, filled.ids)
            pulse = Pulse(filled.reader.again(), 0, pause=PAUSE_SECONDS)
            pulse.person.http.timeout = PATIENCE_SECONDS
            migrating = Run(url, self.server.environment, self.folder, filled.ids)
            try:
                load.listen()
                with load:
                    load.hammers += [everything, pulse]
                    for hammer in load.hammers:
                        hammer.start()
                    wait_until(lambda: everything.outcomes and load.outcomes(), what="traffic")
                    began = time.monotonic()
                    for moment in moments:
                        MOMENTS[moment](migrating)
                    migrating.start()
                    assert migrating.finish() == 0, migrating.said()
                    seconds = time.monotonic() - began
                load.balance()
                self._check(url)
                load.stop_listening()
                assert self.server.stop() == 0
                assert "Traceback" not in self.server.output(), self.server.output()
            finally:
                if migrating.process is not None and migrating.process.poll() is None:
                    migrating.kill()
                load.stop_listening()
                pulse.person.close()
                self.server.kill()
        outcomes = [outcome for thread in (*load.writers, everything) for outcome in thread.outcomes]
        return Result(outcomes, pulse.outcomes, seconds, len(migrating.started))

    def _check(self, url: str) -> None:
        first, last = self.filled.ids
        with psycopg.connect(url) as opened:
            empty = "SELECT count(*) FROM messaging_message WHERE id <= %s AND letters IS NULL"
            assert opened.execute(empty, [last]).fetchone() == (0,)
            whole = "SELECT count(*) FROM messaging_message WHERE id BETWEEN %s AND %s"
            assert opened.execute(whole, [first, last]).fetchone() == (self.messages,)
            assert opened.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone() == (0,)
            assert opened.execute("SELECT to_regclass('message_of_sender') IS NOT NULL").fetchone() == (True,)
            check = "SELECT convalidated FROM pg_constraint WHERE conname = 'message_letters'"
            assert opened.execute(check).fetchone() == (True,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--only", default="", metavar="NAMES", help=f"of: never, {', '.join(MOMENTS)}")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or ["never", *MOMENTS]
    failed = False
    with tempfile.TemporaryDirectory(prefix="parley-upgrade-") as folder:
        began = time.monotonic()
        with Upgrade(Path(folder), options.messages) as upgrade:
            print(
                f"{VERSIONS[-1]} with {options.messages:,} messages, filled in {time.monotonic() - began:.0f} s",
                flush=True,
            )
            head = f"{'killed in':10}{'runs':>5}{'seconds':>9}{'requests':>10}{'failed':>8}"
            print(f"{head}{'median':>10}{'99 %':>10}{'slowest':>10}{'healthz':>10}", flush=True)
            for name in names:
                result = upgrade.run([] if name == "never" else [name])
                failed |= bool(result.failures)
                row = f"{name:10}{result.runs:5}{result.seconds:9.0f}{len(result.outcomes):10,}{len(result.failures):8}"
                seconds = [*map(result.within, (0.5, 0.99, 1)), result.pulse_slowest()]
                times = "".join(f"{each * 1000:7.0f} ms" for each in seconds)
                print(f"{row}{times}  {result.slowest().detail}", flush=True)
                for outcome in result.failures[:5]:
                    print(f"  {outcome}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
