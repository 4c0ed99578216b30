"""`manage.py restore`: a backup into an empty database and an empty place of pictures."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import OperatorCommand, not_blank
from server import backups, restoring


class Command(OperatorCommand):
    help = (
        "Restore a backup into an empty database and an empty place of pictures, migrate it and make every client reload. "
        "Started again after an interruption, it goes on."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", type=not_blank, help="the folder or the archive of a backup, or - for standard input"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        with backups.opened(options["source"]) as folder:
            manifest = restoring.restore(
                folder,
                source="The archive" if options["source"] == "-" else options["source"],
                dry_run=options["dry_run"],
                report=self.report,
                progress=lambda names: self.progress(names, what="pictures, files"),
            )
        shown = {name: manifest[name] for name in ("version", "taken_at", "database_bytes", "picture_files")}
        return {**shown, "restored": not options["dry_run"], "dry_run": options["dry_run"]}
