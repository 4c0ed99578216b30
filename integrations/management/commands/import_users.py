"""`manage.py import_users`: the users of another service."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from accounts.services import audit
from core.api.serializers import checked
from core.commands import OperatorCommand, actor
from integrations.serializers import CreateUserInput
from integrations.services import imports


class Command(OperatorCommand):
    help = (
        "Create users from a file with a JSON object a line, with the fields of the operation server_users_create. Users who are "
        "there already are counted and left alone, so an interrupted import is simply started again."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file; - is standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        result = self.act(**options)
        self.show(result, as_json=options["json"])
        if result["refused"]:
            raise CommandError(f"{result['refused']} lines were refused; the others are in.")

    def act(self, **options: Any) -> dict[str, Any]:
        path: Path = options["file"]
        if str(path) == "-":
            return self.read(sys.stdin, dry_run=options["dry_run"])
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return self.read(file, dry_run=options["dry_run"])

    def read(self, file: IO[str], *, dry_run: bool) -> dict[str, Any]:
        lines: Iterator[str] = self.progress(file, what="users")
        done = imports.Counts()
        try:
            imports.import_lines(
                lines,
                validate=partial(checked, CreateUserInput),
                on_refusal=lambda number, reason: self.report(f"line {number}: {reason}"),
                counts=done,
                dry_run=dry_run,
            )
        finally:
            # Also when the import is stopped half way.
            if done.created and not dry_run:
                audit.record(action="users.imported", actor=actor(), created=done.created, refused=done.refused)
        return {"created": done.created, "existing": done.existing, "refused": done.refused, "dry_run": dry_run}
