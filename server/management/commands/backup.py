"""`manage.py backup`: the database in one moment and the pictures, into a folder or as one archive."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseProblem
from django.db import connection
from django.utils import timezone

from accounts.services import audit
from core.commands import OperatorCommand, actor, not_blank, positive
from core.database import postgres_tools
from core.database.connections import refuse_bouncer
from server import backups


class Command(OperatorCommand):
    help = (
        "Back up the database and the pictures while the service runs. The target is a new folder, or - for an archive "
        "(tar) on standard output."
    )
    changes = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", type=not_blank, help="a new folder, or -")
        parser.add_argument("--without-pictures", action="store_true", help="the database alone")
        parser.add_argument(
            "--keep",
            type=positive,
            help="the target is a folder of backups: add one, then remove all but the newest so many",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["target"] != "-":
            super().handle(*args, **options)
            return
        if options["keep"] or options["json"]:
            raise CommandError("--keep and --json need a folder: standard output carries the archive.", returncode=2)
        if sys.stdout.isatty():
            raise CommandError("The archive is not for a terminal: redirect standard output.", returncode=2)
        try:
            with closing(backups.ArchiveTarget(sys.stdout.buffer)) as target:
                manifest = self.make(target, with_pictures=not options["without_pictures"])
            sys.stdout.buffer.flush()
        except BrokenPipeError as error:
            # Not an end like that of `… | head`: the archive is not whole.
            raise CommandError("The reader of the archive has left before its end.") from error
        self.record(manifest)

    def act(self, **options: Any) -> dict[str, Any]:
        folder = Path(options["target"])
        if options["keep"] is None:
            return self.into(folder, **options)
        with backups.sole_writer(folder):
            made = self.into(folder / f"{timezone.now():%Y-%m-%dT%H%M%SZ}", **options)
            return made | {"removed": backups.remove_old(folder, keep=options["keep"])}

    def into(self, folder: Path, **options: Any) -> dict[str, Any]:
        with backups.new_folder(folder) as target:
            manifest = self.make(target, with_pictures=not options["without_pictures"])
        self.record(manifest)
        shown = {name: manifest[name] for name in ("version", "taken_at", "database_bytes", "picture_files")}
        return {"backup": str(folder), **shown}

    def make(self, target: backups.Target, *, with_pictures: bool) -> dict[str, Any]:
        if connection.vendor == "postgresql":
            refuse_bouncer("backup")
            postgres_tools.check("pg_dump")
        return backups.make(
            target,
            with_pictures=with_pictures,
            progress=lambda names: self.progress(names, what="pictures, files"),
        )

    def record(self, manifest: dict[str, Any]) -> None:
        if manifest["missing"]:
            self.report(f"{len(manifest['missing'])} files of pictures were removed while the backup was made.")
        try:
            audit.record(
                action=backups.MADE,
                actor=actor(),
                database_bytes=manifest["database_bytes"],
                picture_files=manifest["picture_files"],
            )
        except DatabaseProblem as error:
            reason = str(error).splitlines()[0]
            self.report(f"The backup is whole. That it was made could not be recorded: {reason}")
