"""Backups: the database as it was at one moment and the pictures of its rows, in a folder or in one archive (tar).

database.dump or database.sqlite3   what pg_dump --format=custom or SQLite's own copy has written
pictures/ab/…                       the files of the pictures
SHA256SUMS                          a line for each file, as `sha256sum --check` reads it
manifest.json                       version, time, kind of database, migrations; written last
"""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol

from django.conf import settings
from django.core.files import locks
from django.core.files.storage import default_storage
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from accounts.images import pictures
from accounts.services import audit
from core.database import postgres_tools
from core.database.exclusive import without_time_limits
from core.times import json_time
from core.version import VERSION

FORMAT = 1
MANIFEST, SUMS, PICTURES = "manifest.json", "SHA256SUMS", "pictures"
DATABASES = {"postgresql": "database.dump", "sqlite": "database.sqlite3"}
NAMES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
MADE, RESTORED = "backup.made", "backup.restored"
# From this age on the newest backup is too old for one that is made every night.
OLD_HOURS = 48
# A folder of `backup --keep`: the moment in UTC.
STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z")
_CHUNK = 1_048_576
# Names that an archive may hold.
_MEMBER = re.compile(
    rf"{re.escape(MANIFEST)}|{SUMS}|{'|'.join(map(re.escape, DATABASES.values()))}|{PICTURES}/[\w-]+/[\w.-]+"
)

Progress = Callable[[list[str]], Iterable[str]]


def last_made_at() -> datetime | None:
    """When the newest backup by `manage.py backup` was complete. Recorded in the audit log."""
    return audit.last_at(MADE)


class Target(Protocol):
    """Where a backup is written. `add` returns the file's SHA-256 in hexadecimal digits."""

    def add(self, name: str, content: IO[bytes], size: int) -> str: ...

    def forget(self, name: str) -> None: ...


class FolderTarget:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, content: IO[bytes], size: int) -> str:
        path = self.folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("xb") as file:
            path.chmod(0o600)
            return _copy(content, file.write)

    def forget(self, name: str) -> None:
        (self.folder / name).unlink()


class ArchiveTarget:
    """A tar archive that is written as it is made. What is forgotten stays in it and is not listed."""

    def __init__(self, output: IO[bytes]) -> None:
        self.tar = tarfile.open(fileobj=output, mode="w|")  # noqa: SIM115  (closed by `close`)

    def add(self, name: str, content: IO[bytes], size: int) -> str:
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, int(timezone.now().timestamp())
        reader = _HashingReader(content)
        self.tar.addfile(member, reader)
        return reader.digest.hexdigest()

    def forget(self, name: str) -> None:
        pass

    def close(self) -> None:
        self.tar.close()


class _HashingReader:
    def __init__(self, source: IO[bytes]) -> None:
        self.source, self.digest = source, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self.source.read(size)
        self.digest.update(data)
        return data


def _copy(source: IO[bytes], write: Callable[[bytes], Any]) -> str:
    digest = hashlib.sha256()
    while data := source.read(_CHUNK):
        digest.update(data)
        write(data)
    return digest.hexdigest()


# --- Making one -----------------------------------------------------------------------------


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[FolderTarget]:
    """A folder that takes its name when the block ends without an error; after an error nothing is left.

    CommandError when something stands there already, or is being written there.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock, part = (path.with_name(f".{path.name}.{ending}") for ending in ("lock", "part"))
    with _locked(lock, path):
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise CommandError(f"{path} exists and is not empty: name a new folder.", returncode=2)
            # Left by a run that was killed.
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(mode=0o700)
            yield FolderTarget(part)
            part.replace(path)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            with contextlib.suppress(OSError):
                lock.unlink()


@contextlib.contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Context manager: the only backup that is written into this folder. CommandError while there is another one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder / ".lock", folder):
        for part in folder.glob(".*.part"):
            shutil.rmtree(part, ignore_errors=True)
        yield


@contextlib.contextmanager
def _locked(file: Path, target: Path) -> Iterator[None]:
    with file.open("a") as opened:
        has_lock = locks.lock(opened, locks.LOCK_EX | locks.LOCK_NB)
        # The one who had it until now may have removed the file.
        if not has_lock or not file.exists() or not os.path.samestat(file.stat(), os.fstat(opened.fileno())):
            raise CommandError(f"Another backup is being written into {target}.")
        yield


def remove_old(folder: Path, *, keep: int) -> list[str]:
    """Removes all complete backups in a folder but the newest ones. Returns the names of those removed."""
    made = sorted(path for path in folder.iterdir() if STAMP.fullmatch(path.name) and (path / MANIFEST).exists())
    old = made[:-keep]
    for path in old:
        # Without its manifest it does not count as a backup, also when the removal is interrupted.
        (path / MANIFEST).unlink()
        shutil.rmtree(path)
    return [path.name for path in old]


def make(target: Target, *, with_pictures: bool, progress: Progress) -> dict[str, Any]:
    """Writes a backup and returns its manifest. CommandError, OSError, DatabaseError.

    Pictures are copied before the database, because files are only added and removed, never changed: what was removed
    meanwhile is left out again, and what was added is copied afterwards, by the list of the database's own moment.
    """
    sums: dict[str, str] = {}

    def add(name: str) -> bool:
        """Copies a file of a picture. False when it was removed meanwhile."""
        try:
            with default_storage.open(name) as file:
                sums[f"{PICTURES}/{name}"] = target.add(f"{PICTURES}/{name}", file, file.size)
        except FileNotFoundError:
            return False
        return True

    if with_pictures:
        for name in progress(pictures.stored_names()):
            add(name)
    # Not the system's folder of temporary files, which may lie in memory.
    with TemporaryDirectory(dir=settings.VAR_DIR, prefix="backup-") as scratch:
        path = Path(scratch) / DATABASES[connection.vendor]
        taken_at = timezone.now()
        names = _dump(path)
        with path.open("rb") as file:
            sums[path.name] = target.add(path.name, file, path.stat().st_size)
        size = path.stat().st_size
    missing = []
    if with_pictures:
        wanted = {f"{PICTURES}/{name}" for name in names}
        for gone in sums.keys() - wanted - {path.name}:
            target.forget(gone)
            del sums[gone]
        missing = [
            name for name in progress([name for name in names if f"{PICTURES}/{name}" not in sums]) if not add(name)
        ]
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "database": connection.vendor,
        "server": postgres_tools.server_version() if connection.vendor == "postgresql" else sqlite3.sqlite_version,
        "taken_at": json_time(taken_at),
        "database_bytes": size,
        "with_pictures": with_pictures,
        "picture_files": len(sums) - 1,
        # Removed by their owners while the backup was made.
        "missing": missing,
        "migrations": sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations()),
        "sums": target.add(SUMS, io.BytesIO(listed), len(listed)),
    }
    text = (json.dumps(manifest, indent=1) + "\n").encode()
    target.add(MANIFEST, io.BytesIO(text), len(text))
    return manifest


def _dump(path: Path) -> list[str]:
    """Writes the database into a file. Returns the names of the files of pictures at the same moment."""
    if connection.vendor == "sqlite":
        return _dump_sqlite(path)
    with without_time_limits(), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            snapshot = cursor.fetchone()[0]
        postgres_tools.dump(path, snapshot=snapshot)
        return pictures.stored_names()


def _dump_sqlite(path: Path) -> list[str]:
    connection.ensure_connection()
    with contextlib.closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
        # One file, without a log beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
        return pictures.names_of(copy.execute(str(pictures.TOKENS.query)))


# --- Reading one ----------------------------------------------------------------------------


@contextlib.contextmanager
def opened(source: str) -> Iterator[Path]:
    """The folder of a backup; an archive (a file, or `-` for standard input) is unpacked for the time of the block."""
    path = Path(source)
    if source != "-" and path.is_dir():
        yield path
        return
    with TemporaryDirectory(dir=settings.VAR_DIR, prefix="restore-") as scratch:
        with sys.stdin.buffer if source == "-" else path.open("rb") as file:
            _unpack(file, Path(scratch), source)
        yield Path(scratch)


def _unpack(file: IO[bytes], folder: Path, source: str) -> None:
    try:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            for member in archive:
                content = archive.extractfile(member) if _MEMBER.fullmatch(member.name) and member.isfile() else None
                if content is None:
                    raise CommandError(f"{source} is not a backup of this service: it holds {member.name!r}.")
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as target:
                    shutil.copyfileobj(content, target, _CHUNK)
    except (tarfile.TarError, EOFError) as error:
        raise CommandError(f"{source} is not a backup, or only a part of one: {error}.") from error


def verified(folder: Path, *, source: str) -> dict[str, Any]:
    """The manifest of a whole backup that this version can restore here. CommandError with the reason otherwise."""
    manifest = _manifest(folder, source)
    if manifest["format"] > FORMAT:
        raise CommandError(f"{source} is newer than this code: it was made by version {manifest['version']}.")
    kind = manifest["database"]
    if kind != connection.vendor:
        raise CommandError(
            f"{source} holds {NAMES.get(kind, kind)}, and this service runs on {NAMES[connection.vendor]}."
        )
    sums = _sums(folder, manifest, source)
    for name, digest in sums.items():
        try:
            with (folder / name).open("rb") as file:
                found = _copy(file, lambda data: None)
        except FileNotFoundError as error:
            raise CommandError(f"{source} is not whole: {name} is missing.") from error
        if found != digest:
            raise CommandError(f"{source} is damaged: {name} is not what was backed up.")
    return manifest


def _manifest(folder: Path, source: str) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if isinstance(manifest, dict) and {"format", "database", "sums", "migrations", "version"} <= manifest.keys():
            return manifest
    except FileNotFoundError as error:
        raise CommandError(f"{source} is not a backup, or only a part of one: it has no {MANIFEST}.") from error
    except ValueError:
        pass
    raise CommandError(f"{source} is not a backup of this service: its {MANIFEST} is another one.")


def _sums(folder: Path, manifest: dict[str, Any], source: str) -> dict[str, str]:
    """The files of the backup with their SHA-256."""
    try:
        text = (folder / SUMS).read_bytes()
    except FileNotFoundError as error:
        raise CommandError(f"{source} is not whole: {SUMS} is missing.") from error
    lines = [line.partition("  ") for line in text.decode(errors="replace").splitlines()]
    sums = {name: digest for digest, _, name in lines}
    if hashlib.sha256(text).hexdigest() != manifest["sums"] or DATABASES[connection.vendor] not in sums:
        raise CommandError(f"{source} is damaged: {SUMS} is not what was backed up.")
    return sums


def picture_files(folder: Path) -> list[str]:
    """The names, below the folder of pictures, of the files that a verified backup lists."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    names = [line.partition("  ")[2] for line in lines]
    return [name.removeprefix(f"{PICTURES}/") for name in names if name.startswith(f"{PICTURES}/")]
