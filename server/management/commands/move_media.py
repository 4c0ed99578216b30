"""`manage.py move_media`: copies all images to another storage, before MEDIA_URL or MEDIA_ROOT changes."""

from argparse import ArgumentTypeError
from os import environ
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, Storage
from django.core.management.base import CommandError, CommandParser
from django.utils.module_loading import import_string

from accounts.images import pictures
from accounts.services import audit
from core.commands import OperatorCommand, actor, not_blank, output_path
from core.images.storage_address import storage_at

CHUNK = 50
# s3://key:secret@bucket?endpoint=https://host, as MEDIA_URL.
VARIABLE = "MOVE_MEDIA_TO"


class Command(OperatorCommand):
    help = "Copy all images to a folder or an object store. Safe to stop and to repeat."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to", type=_target, help=f"a folder; the address of an object store stands in the variable {VARIABLE}"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        address = options["to"] or environ.get(VARIABLE, "")
        if not address:
            raise CommandError(f"Name a folder with --to, or set {VARIABLE} to the address of a bucket.", returncode=2)
        target = opened(address)
        ids = pictures.picture_ids()
        copied = missing = 0
        try:
            for start in self.progress(range(0, len(ids), CHUNK), what="pictures"):
                copied_now, missing_now = pictures.copy_files(
                    target=target, ids=ids[start : start + CHUNK], dry_run=options["dry_run"]
                )
                copied, missing = copied + copied_now, missing + missing_now
        except OSError as error:
            raise CommandError(f"Stopped after {copied} files: {error}. Repeat the command to go on.") from error
        finally:
            if copied and not options["dry_run"]:
                audit.record(action="media.copied", actor=actor(), copied=copied, missing=missing)
        return {"pictures": len(ids), "copied": copied, "missing": missing, "dry_run": options["dry_run"]}


def _target(text: str) -> str:
    if "://" in text:
        # Other users of the machine can read the arguments of a process, and the shell keeps them.
        raise ArgumentTypeError(f"the address of an object store holds a secret: set {VARIABLE} instead")
    output_path(text)
    return not_blank(text)


def opened(address: str) -> Storage:
    """The storage for a folder or an address. CommandError for an invalid address."""
    if "://" not in address:
        return FileSystemStorage(location=address)
    try:
        config = storage_at(VARIABLE, address)
    except ImproperlyConfigured as error:
        raise CommandError(str(error), returncode=2) from error
    storage: Storage = import_string(config["BACKEND"])(**config["OPTIONS"])
    return storage
