"""Restores a backup into an empty place, so that an interrupted restore leaves nothing that looks whole.

A mark says that a restore has begun: a table on PostgreSQL, a file beside the database on SQLite. It goes with the last
change, so that the same backup can be restored again after an interruption, and nothing else in its place.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connection, transaction

from accounts.services import audit
from core.commands import actor
from core.database import postgres_tools
from core.database.connections import refuse_bouncer
from core.database.exclusive import exclusive, without_time_limits
from realtime.services import event_log
from server import backups, drift, health

MARK = "parley_restore"


class _Mark:
    """Says which backup is being restored."""

    def __init__(self, manifest: bytes) -> None:
        self.backup = hashlib.sha256(manifest).hexdigest()
        self.file = Path(f"{connection.settings_dict['NAME']}.{MARK}")

    def begun(self) -> str | None:
        """The backup whose restore has begun and not ended; None without one."""
        if connection.vendor == "sqlite":
            return self.file.read_text() if self.file.exists() else None
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s)", [MARK])
            if cursor.fetchone()[0] is None:
                return None
            cursor.execute(f"SELECT backup FROM {MARK}")
            return str(cursor.fetchone()[0])

    def set(self) -> None:
        if connection.vendor == "sqlite":
            self.file.write_text(self.backup)
            return
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {MARK} (backup text)")
            cursor.execute(f"INSERT INTO {MARK} VALUES (%s)", [self.backup])

    def remove(self) -> None:
        if connection.vendor == "sqlite":
            self.file.unlink()
            return
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {MARK}")


def restore(
    folder: Path,
    *,
    source: str,
    dry_run: bool,
    report: Callable[[str], None],
    progress: Callable[[list[str]], Iterable[str]],
) -> dict[str, Any]:
    """Restores the backup in a folder and begins a new epoch, so that clients reload; returns its manifest.

    CommandError when the backup is damaged, foreign or newer than this code, and when the place is not empty.
    """
    if connection.vendor == "postgresql":
        refuse_bouncer("restore")
        postgres_tools.check("pg_restore")
    report("Verifying the backup …")
    manifest = backups.verified(folder, source=source)
    _refuse_newer(manifest, source)
    with exclusive(
        "migrate", report_wait=lambda: report("Another process migrates or restores; waiting for it to end.")
    ):
        mark = _Mark((folder / backups.MANIFEST).read_bytes())
        begun = mark.begun()
        _refuse_full(manifest, mark, begun)
        if dry_run:
            return manifest
        if begun is None:
            mark.set()
        names = backups.picture_files(folder)
        for name in progress(names):
            _store(name, folder / backups.PICTURES / name)
        report("Restoring the database …")
        database = folder / backups.DATABASES[connection.vendor]
        with _sqlite_in_place(database) if connection.vendor == "sqlite" else _restored_postgresql(database):
            with without_time_limits():
                call_command(migrate.Command(), interactive=False, verbosity=0)
            with transaction.atomic():
                people = event_log.start_new_epoch(None)
                audit.record(
                    action=backups.RESTORED,
                    actor=actor(),
                    taken_at=manifest["taken_at"],
                    picture_files=len(names),
                    people=people,
                )
                if connection.vendor == "postgresql":
                    mark.remove()
        if connection.vendor == "sqlite":
            mark.remove()
    return manifest


def _refuse_newer(manifest: dict[str, Any], source: str) -> None:
    known = {".".join(key) for key in health.migrations_on_disk() | health.replaced_migrations()}
    ours = drift.own_apps()
    for name in manifest["migrations"]:
        if name not in known and name.partition(".")[0] in ours:
            raise CommandError(
                f"{source} is newer than this code: it has the migration {name}. Install version {manifest['version']}."
            )


def _refuse_full(manifest: dict[str, Any], mark: _Mark, begun: str | None) -> None:
    """CommandError when the database or the place of pictures holds something, unless this restore has begun before."""
    if begun == mark.backup:
        return
    if begun is not None:
        raise CommandError(
            "The restore of another backup was interrupted here: repeat it, or make the database and the folder of "
            "pictures empty."
        )
    if table := _first_table():
        raise CommandError(f"The database is not empty: it has the table {table}. Restore into an empty one.")
    if manifest["with_pictures"] and _has_pictures():
        raise CommandError("The place of pictures is not empty: restore into an empty one.")


def _first_table() -> str | None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master LIMIT 1")
        else:
            cursor.execute(
                "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
                " AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND NOT EXISTS"
                " (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')"
                " ORDER BY 1 LIMIT 1"
            )
        row = cursor.fetchone()
    return row[0] if row else None


def _has_pictures() -> bool:
    try:
        folders, files = default_storage.listdir("")
    except FileNotFoundError:
        return False
    return bool(folders or files)


def _store(name: str, path: Path) -> None:
    """Copies a picture into its place, unless it is there whole since an interrupted restore."""
    if default_storage.exists(name):
        if default_storage.size(name) == path.stat().st_size:
            return
        default_storage.delete(name)
    with path.open("rb") as file:
        default_storage.save(name, File(file))


@contextlib.contextmanager
def _restored_postgresql(dump: Path) -> Iterator[None]:
    """Restores the dump in one transaction, unless an interrupted restore has done it."""
    extensions = drift.recorded("postgresql")["extensions"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NULL")
        is_empty = cursor.fetchone()[0]
    if is_empty:
        postgres_tools.restore(dump, extensions=extensions)
    yield


@contextlib.contextmanager
def _sqlite_in_place(copy: Path) -> Iterator[None]:
    """Prepares the database in a file of its own, which takes the place of the empty one when the block ends."""
    name = Path(connection.settings_dict["NAME"])
    part = name.with_name(f"{name.name}.restoring")
    connection.close()
    for path in _files_of(part):
        path.unlink(missing_ok=True)
    shutil.copyfile(copy, part)
    part.chmod(0o600)
    connection.settings_dict["NAME"] = part
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
    for path in _files_of(name)[1:]:
        path.unlink(missing_ok=True)
    os.replace(part, name)


def _files_of(database: Path) -> list[Path]:
    return [database, *(database.with_name(database.name + ending) for ending in ("-wal", "-shm"))]
