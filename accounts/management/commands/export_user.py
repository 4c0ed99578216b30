import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.user_commands import find_user
from accounts.services import audit, export
from core.conf import project
from core.operator import OperatorCommand, actor


def default_path(username: str) -> Path:
    """A new file below VAR_DIR."""
    folder = Path(project.VAR_DIR) / "exports"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / export.file_name(username, f"{timezone.now():%Y-%m-%dT%H%M%S}")


class Command(OperatorCommand):
    help = "Write all data of a user into a zip file."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument(
            "--output", help="the zip file to write; it must not exist (default: a new one in var/exports)"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        path = Path(options["output"] or default_path(user.username))
        result = {"user_id": user.id, "email": user.email, "file": str(path), "dry_run": options["dry_run"]}
        if options["dry_run"]:
            # The size is not known before the archive is written.
            return result
        try:
            with path.open("xb") as file, export.archive(user_id=user.id) as archive:
                shutil.copyfileobj(archive, file)
                result["bytes"] = file.tell()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        path.chmod(0o600)
        audit.record(action="user.exported", actor_label=actor(), target=user)
        return result
