import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.user_commands import find_user
from accounts.services import account_status, export
from core.commands import OperatorCommand, actor, output_path
from core.conf import project


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A new file that only its owner may read, from the first byte on; removed after an error."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            yield file
        except BaseException:
            path.unlink(missing_ok=True)
            raise


class Command(OperatorCommand):
    help = "Write all data of a user into a zip file."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument(
            "--output",
            type=output_path,
            help="the zip file to write; it must not exist (default: a new one in var/exports)",
        )
        parser.add_argument(
            "--reason", default="", help="kept in the audit log, and part of the export of the user's data"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        name = export.file_name(user.username, f"{timezone.now():%Y-%m-%dT%H%M%S}")
        path = options["output"] or Path(project.VAR_DIR) / "exports" / name
        result = {"user_id": user.id, "email": user.email, "file": str(path), "dry_run": options["dry_run"]}
        if options["dry_run"]:
            # The size is not known before the archive is written.
            return result
        try:
            if not options["output"]:
                path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(path) as file, export.archive(user_id=user.id) as archive:
                shutil.copyfileobj(archive, file)
                result["bytes"] = file.tell()
                # Inside the block: if the audit log cannot be written, the file is removed.
                account_status.record_export(user=user, actor=actor(), reason=options["reason"])
        except OSError as error:
            raise CommandError(f"{error.filename or path}: {error.strerror}") from error
        return result
