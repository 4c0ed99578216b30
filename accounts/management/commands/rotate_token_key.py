import re
import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.conf import conf
from accounts.services import audit
from core.commands import OperatorCommand, actor, replace_file
from core.database.exclusive import exclusive
from core.database.transactions import unit_of_work


class Command(OperatorCommand):
    help = (
        "Make a new key for session tokens without signing users out. With several processes in three steps: "
        "`stage` adds a key that verifies everywhere and signs nowhere yet; once every process runs with it, `sign` "
        "puts it first; a week later `drop` removes the old one. Without a step, for a single process: a new key "
        "that signs at once."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("step", nargs="?", choices=["stage", "sign", "drop"])

    def act(self, **options: Any) -> dict[str, Any]:
        pairs = [pair.strip() for pair in conf.TOKEN_KEYS.split(",") if pair.strip()]
        new_pair = f"{timezone.now():%Y%m%d%H%M%S}:{secrets.token_urlsafe(48)}"
        if options["step"] == "stage":
            pairs.append(new_pair)
        elif options["step"] is None:
            pairs.insert(0, new_pair)
        elif len(pairs) < 2:
            raise CommandError("There is only one key.")
        elif options["step"] == "sign":
            if _made_at(pairs[0]) > _made_at(pairs[-1]):
                # Repeated, it would put an old key first again, and `drop` would remove the new one.
                raise CommandError("The newest key signs already.")
            pairs.insert(0, pairs.pop())
        else:
            pairs.pop()
        kids = [_kid(pair) for pair in pairs]
        path = conf.TOKEN_KEYS_FILE
        if not options["dry_run"]:
            with exclusive(
                "token_keys", report_wait=lambda: self.report("Waiting for another process that adds a key.")
            ):
                _write(path, pairs, kids)
            if path is None:
                self.report("Set this as TOKEN_KEYS for every process, then restart them one after another.")
            else:
                self.report("Written; processes use it after their next start.")
        return {
            "kids": kids,
            "signing": kids[0],
            "token_keys": None if path is not None or options["dry_run"] else ",".join(pairs),
            "dry_run": options["dry_run"],
        }


def _kid(pair: str) -> str:
    return pair.split(":")[0]


def _made_at(pair: str) -> str:
    """The time in the name of a key that this command has made; "" for other names."""
    kid = _kid(pair)
    return kid if re.fullmatch(r"\d{14}", kid) else ""


def _write(path: Path | None, pairs: list[str], kids: list[str]) -> None:
    """Writes the audit log, and the file if there is one: both or neither."""
    with unit_of_work():
        audit.record(action="token_key.rotated", actor=actor(), kids=kids)
        if path is None:
            return
        if path.read_text().strip() != conf.TOKEN_KEYS:
            raise CommandError("The keys have been changed since this command was started. Repeat it.")
        replace_file(path, ",".join(pairs))
