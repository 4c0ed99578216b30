"""`manage.py backup` and `restore` on the database under test, with real programs and files."""

import contextlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.services import audit
from portal.docs import markdown
from server import backups, restoring
from server.management.commands import doctor
from server.metrics import StateCollector
from tests import databases, small_disk
from tests.fleet import services
from tests.fleet.failover import PgBouncer
from tests.object_store import Bucket
from tests.server import ON_POSTGRES, ROOT

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]

FILL = """
import io
from PIL import Image
from accounts.images import pictures
from realtime.models import Stream
from tests.factories import make_user
for name in ("Alice", "Bob"):
    file = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(file, "PNG")
    file.seek(0)
    user = make_user(name, email=f"{name}@example.com".lower())
    pictures.set_avatar(user=user, upload=file)
    Stream.objects.update_or_create(user=user, defaults={"epoch": "before", "head_seq": 5})
"""
LOOK = """
import json
from accounts.images import pictures
from accounts.models import AuditEntry, User
from django.core.files.storage import default_storage
from realtime.models import Stream
names = pictures.stored_names()
print("LOOK" + json.dumps({
    "people": sorted(User.objects.values_list("email", flat=True)),
    "files": sorted(names),
    "missing": [name for name in names if not default_storage.exists(name)],
    "epochs": sorted(set(Stream.objects.values_list("epoch", flat=True))),
    "heads": sorted(Stream.objects.values_list("head_seq", flat=True)),
    "actions": sorted(AuditEntry.objects.filter(action__startswith="backup.").values_list("action", flat=True)),
}))
"""


class Place:
    """An installation: a database, a folder and what `manage.py` says there."""

    def __init__(self, folder, url=None, **environment):
        self.folder, self.url = folder, url
        folder.mkdir(parents=True, exist_ok=True)
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = inherited | {"DEBUG": "1", "VAR_DIR": str(folder), "DATABASE_URL": url or ""} | environment
        if not url:
            del self.environment["DATABASE_URL"]

    def start(self, *words, program=("manage.py",), **options):
        return subprocess.Popen(
            [sys.executable, *program, *words], cwd=ROOT, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def manage(self, *words, code=0, **options):
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, (out[-2000:], err.decode()[-3000:])
        return out, err.decode()

    def shell(self, text):
        return self.manage("shell", "-v0", "--command", text)[0].decode()

    def look(self):
        return json.loads(self.shell(LOOK).rpartition("LOOK")[2])

    def tables(self):
        if self.url:
            with psycopg.connect(self.url.replace("postgres://", "postgresql://")) as opened:
                return opened.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()[0]
        with contextlib.closing(sqlite3.connect(self.folder / "parley.sqlite3")) as opened:
            return opened.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


@pytest.fixture(scope="module")
def stack():
    with contextlib.ExitStack() as opened:
        yield opened


@pytest.fixture
def empty(tmp_path):
    """An installation without tables."""
    with contextlib.ExitStack() as opened:
        url = opened.enter_context(databases.TemporaryDatabase(empty=True)) if ON_POSTGRES else None
        yield Place(tmp_path / "new", url)


@pytest.fixture(scope="module")
def bucket(stack):
    started = Bucket()
    stack.callback(started.stop)
    return started


@pytest.fixture(scope="module")
def place(stack, bucket, tmp_path_factory):
    """An installation with two users and their pictures in a bucket."""
    folder = tmp_path_factory.mktemp("old")
    url = stack.enter_context(databases.TemporaryDatabase()) if ON_POSTGRES else None
    made = Place(folder, url, MEDIA_URL=bucket.url)
    if not ON_POSTGRES:
        databases.copy_sqlite(folder)
    made.shell(FILL)
    return made


@pytest.fixture(scope="module")
def backup(place, tmp_path_factory):
    """A backup in a folder, made once."""
    folder = tmp_path_factory.mktemp("backups") / "one"
    out, _ = place.manage("backup", str(folder), "--json")
    assert json.loads(out)["picture_files"] == 4
    return folder


@pytest.fixture
def copied(backup, tmp_path):
    shutil.copytree(backup, tmp_path / "copy")
    return tmp_path / "copy"


def test_what_was_backed_up_comes_back_with_a_new_epoch(place, backup, empty):
    before = place.look()
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=backup, check=False).returncode == 0
    assert {oct(path.stat().st_mode & 0o777) for path in backup.rglob("*") if path.is_file()} == {"0o600"}
    assert backup.stat().st_mode & 0o777 == 0o700
    _, said = empty.manage("restore", str(backup), "--dry-run")
    assert empty.tables() == 0 and "%" not in said
    empty.manage("restore", str(backup))
    after = empty.look()
    assert after["people"] == before["people"] and after["files"] == before["files"] and after["missing"] == []
    assert "before" not in after["epochs"] and min(after["heads"]) > 1_000_000
    assert (before["actions"], after["actions"]) == (["backup.made"], ["backup.restored"])
    assert list(empty.folder.glob("*restor*")) == []
    # Nothing is restored on top of it.
    _, said = empty.manage("restore", str(backup), code=1)
    assert said.splitlines()[-1].startswith("The database is not empty: it has the table ")


def test_an_archive_goes_through_a_pipe_while_users_write(place, empty):
    writing = place.start(
        "shell", "-v0", "--command", FILL.replace('("Alice", "Bob")', 'map("Writer{}".format, range(40))')
    )
    archive = place.start("backup", "-")
    _, said = empty.manage("restore", "-", stdin=archive.stdout)
    assert (archive.wait(), writing.wait()) == (0, 0), (archive.stderr.read(), writing.stderr.read())
    found = empty.look()
    assert found["missing"] == [] and len(found["people"]) >= 2
    for process in (archive, writing):
        process.stdout.close()
        process.stderr.close()
    assert "Traceback" not in said


def test_an_interrupted_restore_goes_on_and_takes_nothing_else(backup, copied, empty):
    killed = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; sys.path.insert(0, '.');"
        "import django; django.setup();"
        "from realtime.services import event_log; event_log.start_new_epoch = lambda *_: os._exit(9);"
        "from django.core.management import call_command; call_command('restore', sys.argv[1])"
    )
    empty.manage(str(backup), program=("-c", killed), code=9)
    manifest = json.loads((copied / "manifest.json").read_text())
    (copied / "manifest.json").write_text(json.dumps(manifest | {"taken_at": "2026-01-01T00:00:00.000000Z"}))
    _, said = empty.manage("restore", str(copied), code=1)
    assert said.splitlines()[-1].startswith("The restore of another backup was interrupted here")
    empty.manage("restore", str(backup))
    found = empty.look()
    assert found["missing"] == [] and "before" not in found["epochs"] and found["actions"] == ["backup.restored"]


def test_of_two_restores_at_once_one_is_refused(backup, empty):
    running = [empty.start("restore", str(backup)) for _ in range(2)]
    said = [process.communicate(timeout=300)[1].decode() for process in running]
    assert sorted(process.returncode for process in running) == [0, 1], said
    assert sum("is not empty" in text for text in said) == 1
    assert empty.look()["missing"] == []


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change(folder, **changes):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))


OTHER = "sqlite" if ON_POSTGRES else "postgresql"
BAD = {
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "is not a backup, or only a part of one"),
    "a folder of another program": (lambda folder: (folder / "manifest.json").write_text("[]"), "is not a backup of this"),
    "no sums": (lambda folder: (folder / "SHA256SUMS").unlink(), "is not whole: SHA256SUMS is missing"),
    "other sums": (lambda folder: (folder / "SHA256SUMS").write_text(""), "is damaged: SHA256SUMS"),
    "a picture is missing": (lambda folder: next(folder.rglob("*.png")).unlink(), r"is not whole: pictures/.* is missing"),
    "a changed bit": (lambda folder: flip(next(folder.glob("database.*"))), "is damaged: database"),
    "the other database": (lambda folder: change(folder, database=OTHER), "and this service runs on"),
    "a newer form": (lambda folder: change(folder, format=99), "is newer than this code: it was made by version"),
    "a newer schema": (
        lambda folder: change(folder, migrations=["realtime.9999_later"]),
        r"is newer than this code: it has the migration realtime\.9999_later\. Install version",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_backup_that_is_not_whole_or_not_ours_is_refused(db, copied, name):
    damage, sentence = BAD[name]
    damage(copied)
    with pytest.raises(CommandError, match=sentence) as refused, backups.opened(str(copied)) as folder:
        restoring.restore(folder, source="it", dry_run=True, report=str, progress=iter)
    assert "\n" not in str(refused.value)


def archive_of(folder, path):
    with tarfile.open(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.add(file, file.relative_to(folder))
    return path


@pytest.mark.parametrize("length", [100, 700, 20_000])
def test_a_truncated_archive_is_refused(db, backup, tmp_path, length):
    path = archive_of(backup, tmp_path / "a.tar")
    path.write_bytes(path.read_bytes()[:length])
    with (
        pytest.raises(CommandError, match=r"is not a backup, or only a part of one"),
        backups.opened(str(path)) as folder,
    ):
        backups.verified(folder, source=str(path))
    assert list(Path(os.environ["VAR_DIR"]).glob("restore-*")) == []


def test_an_archive_writes_nowhere_else(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("pictures/../../outside")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(CommandError, match="is not a backup of this service"), backups.opened(str(path)):
        pass


def test_a_target_that_exists_is_left_alone(place, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    _, said = place.manage("backup", str(tmp_path), code=2)
    assert said == f"{tmp_path} exists and is not empty: name a new folder.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_full_disk_is_one_sentence(place):
    before = place.look()["actions"]
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [sys.executable, "manage.py", "backup", "-"], cwd=ROOT, env=place.environment, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False, timeout=300,
        )  # fmt: skip
    assert (process.returncode, process.stderr.strip()) == (1, "[Errno 28] No space left on device")
    assert place.look()["actions"] == before
    assert list(place.folder.glob("backup-*")) == []


@pytest.fixture
def small_disk_of(tmp_path):
    with contextlib.ExitStack() as opened:
        yield lambda kilobytes: opened.enter_context(small_disk.mounted(tmp_path / "disk", kilobytes=kilobytes))


def test_a_folder_on_a_full_disk_leaves_nothing(place, small_disk_of):
    disk = small_disk_of(64)
    before = place.look()["actions"]
    _, said = place.manage("backup", str(disk / "one"), code=1)
    assert said.splitlines()[-1].endswith("No space left on device") and "Traceback" not in said
    assert list(disk.iterdir()) == [] and place.look()["actions"] == before
    assert list(place.folder.glob("backup-*")) == []


def test_a_restore_onto_a_full_disk_goes_on_once_there_is_room(backup, empty, small_disk_of):
    poor = Place(empty.folder, empty.url, MEDIA_ROOT=str(small_disk_of(8)))
    _, said = poor.manage("restore", str(backup), code=1)
    assert said.splitlines()[-1].endswith("No space left on device") and "Traceback" not in said
    # The mark alone, which says that a restore has begun.
    assert empty.tables() == (1 if ON_POSTGRES else 0)
    empty.manage("restore", str(backup))
    found = empty.look()
    assert found["missing"] == [] and found["actions"] == ["backup.restored"]


@pytest.mark.skipif(ON_POSTGRES, reason="the disk of the server belongs to all tests")
def test_a_migration_on_a_full_disk_is_one_sentence(small_disk_of):
    _, said = Place(small_disk_of(300)).manage("migrate", "--verbosity", "0", code=1)
    assert said == "The disk of the database is full. Make room, then repeat the command.\n"


def test_of_two_backups_into_one_folder_one_is_refused(place, tmp_path):
    folder = tmp_path / "one"
    with backups.new_folder(folder):
        _, said = place.manage("backup", str(folder), code=1)
        assert said == f"Another backup is being written into {folder}.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_the_newest_backups_are_kept(place, tmp_path):
    folder = tmp_path / "backups"
    for name in ("2026-01-01T000000Z", "2026-01-02T000000Z", "2026-01-03T000000Z"):
        (folder / name).mkdir(parents=True)
        (folder / name / "manifest.json").write_text("{}")
    (folder / ".2026-01-04T000000Z.part").mkdir()
    (folder / "theirs").mkdir()
    out, _ = place.manage("backup", str(folder), "--keep", "2", "--without-pictures", "--json")
    made = json.loads(out)
    assert (made["removed"], made["picture_files"]) == (["2026-01-01T000000Z", "2026-01-02T000000Z"], 0)
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock", "2026-01-03T000000Z", Path(made["backup"]).name, "theirs",
    ]  # fmt: skip
    with backups.sole_writer(folder):
        _, said = place.manage("backup", str(folder), "--keep", "2", code=1)
    assert said == f"Another backup is being written into {folder}.\n"


@pytest.mark.parametrize(
    ("hours", "debug", "status", "what"),
    [
        (None, False, "warning", "no backup has been made"),
        (None, True, "note", "no backup has been made"),
        (3, False, "ok", "the newest backup is 3 hours old"),
        (49, False, "warning", "the newest backup is 49 hours old"),
    ],
)
def test_the_age_of_the_newest_backup_is_told(db, settings, hours, debug, status, what):
    settings.DEBUG = debug
    if hours is not None:
        entry = audit.record(action=backups.MADE, actor="cli:root")
        made_at = timezone.now() - timedelta(hours=hours, minutes=1)
        AuditEntry.objects.filter(id=entry.id).update(created_at=made_at)
    line = doctor._backup()
    assert (line.name, line.status) == ("backup", status) and line.what.startswith(what)
    (family,) = [family for family in StateCollector().collect() if family.name == "parley_backup_age_seconds"]
    age = family.samples[0].value
    assert age == float("inf") if hours is None else hours * 3600 < age < (hours + 1) * 3600


# --- PostgreSQL's programs ------------------------------------------------------------------

on_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite needs no programs")


def program(folder, text):
    folder.mkdir()
    path = folder / "pg_dump"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(folder)


@on_postgres
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "pg_dump is not installed. It comes with PostgreSQL's client, which must be version "),
        ("echo 'pg_dump (PostgreSQL) 9.6.24'", "pg_dump is version 9, older than the server's "),
        (
            'test "$1" = --version && echo "pg_dump (PostgreSQL) 99.1" && exit; echo "pg_dump: error: no room" >&2; exit 1',
            "pg_dump failed: no room",
        ),
    ],
)
def test_without_its_program_there_is_no_backup(place, tmp_path, text, sentence):
    path = str(tmp_path / "none") if text is None else program(tmp_path / "bin", text)
    poor = Place(place.folder, place.url, PATH=path, MEDIA_URL=place.environment["MEDIA_URL"])
    _, said = poor.manage("backup", str(tmp_path / "one"), code=1)
    assert said.splitlines()[-1].startswith(sentence) and "Traceback" not in said
    assert not (tmp_path / "one").exists() and not list(tmp_path.glob(".one*"))


@on_postgres
def test_the_documented_commands_work_as_pasted(place, empty, tmp_path):
    """With the environment file and the function `parley` of an installation."""
    section = markdown.section((ROOT / "docs" / "operations.md").read_text(encoding="utf-8"), "Backup and restore")
    making, restoring_ = re.findall(r"^```bash\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    setting = "".join(making.splitlines(keepends=True)[:2])
    assert all("/etc/parley/parley.env" in line for line in setting.splitlines())

    def paste(made, text):
        (tmp_path / "parley.env").write_text(f"DATABASE_URL={made.url}\nMEDIA_ROOT={made.folder / 'media'}\n")
        parley = f'parley() {{ (cd {ROOT} && {sys.executable} manage.py "$@"); }}\n'
        script = parley + text.replace("/etc/parley/parley.env", str(tmp_path / "parley.env"))
        done = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, env=made.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    on_disk = Place(place.folder, place.url)
    on_disk.manage("shell", "-v0", "--command", FILL.replace('("Alice", "Bob")', '("Dora",)'))
    paste(on_disk, making)
    (empty.folder / "media").mkdir()
    paste(empty, setting + restoring_)
    found = empty.look()
    assert "dora@example.com" in found["people"] and "before" not in found["epochs"]
    assert {name for name in found["files"] if name not in found["missing"]}


@on_postgres
def test_a_role_without_rights_is_one_sentence(place, empty, backup, tmp_path):
    databases.on_server("DROP ROLE IF EXISTS parley_reader")
    databases.on_server("CREATE ROLE parley_reader LOGIN")
    try:
        for made, words, sentence in (
            (place, ("backup", str(tmp_path / "one"), "--without-pictures"), "permission denied"),
            (empty, ("restore", str(backup)), "permission denied for schema public"),
            (empty, ("migrate", "--verbosity", "0"), "permission denied for schema public"),
        ):
            url = made.url.replace("//postgres@", "//parley_reader@").replace("//postgres:", "//parley_reader:")
            _, said = Place(made.folder, url).manage(*words, code=1)
            assert sentence in said.splitlines()[-1] and "Traceback" not in said
        assert empty.tables() == 0 and not (tmp_path / "one").exists()
    finally:
        databases.on_server("DROP ROLE parley_reader")


@on_postgres
@pytest.mark.skipif("pgbouncer" in services.missing(), reason="needs pgbouncer")
@pytest.mark.parametrize("told", ["bouncer", "plain"])
def test_behind_a_bouncer_nothing_is_begun(place, backup, empty, tmp_path, told):
    # Not pytest's own folder: PgBouncer runs as another user, who must get in.
    room = Path(tempfile.mkdtemp(prefix="parley-bouncer-"))
    room.chmod(0o777)
    bouncer = PgBouncer(room, to=int(connection.settings_dict["PORT"] or 5432))
    settings = bouncer._settings.read_text().replace("parley = ", "* = ").replace(" dbname=parley", "")
    bouncer._settings.write_text(settings + "\nignore_startup_parameters = options,extra_float_digits\n")
    (room / "userlist.txt").write_text('"postgres" ""\n"parley" ""\n')
    bouncer.process.start()
    try:
        for made, words in (
            (place, ("backup", str(tmp_path / "one"))),
            (empty, ("restore", str(backup))),
            (empty, ("migrate", "--verbosity", "0")),
        ):
            url = f"postgres://postgres@127.0.0.1:{bouncer.port}/{made.url.rpartition('/')[2]}"
            _, said = Place(made.folder, url, DATABASE_CONNECTIONS=told).manage(*words, code=1)
            begin = f"PgBouncer stands between: run {words[0]} with a DATABASE_URL"
            assert said.splitlines()[-1].startswith(begin) and "Traceback" not in said
    finally:
        bouncer.process.kill()
        shutil.rmtree(room)
    assert not (tmp_path / "one").exists() and empty.tables() == 0
