import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.conf import conf
from accounts.services import audit
from core.conf import project
from core.operator import OperatorCommand, actor, replace_file
from core.transactions import unit_of_work


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
            pairs.insert(0, pairs.pop())
        else:
            pairs.pop()
        kids = [pair.split(":")[0] for pair in pairs]
        path = project.VAR_DIR / "token_keys.txt"
        is_ours = path.exists() and _has_keys_of_this_process(path)
        if not options["dry_run"]:
            with unit_of_work():
                # First, so that no key changes without its row in the audit log.
                audit.record(action="token_key.rotated", actor=actor(), kids=kids)
                if is_ours:
                    if not _has_keys_of_this_process(path):
                        raise CommandError("The keys have just been changed by another process. Repeat the command.")
                    replace_file(path, ",".join(pairs))
            if is_ours:
                self.report("Written; processes use it after their next start.")
            else:
                self.report("Set this as TOKEN_KEYS for every process, then restart them one after another.")
        return {
            "kids": kids,
            "signing": kids[0],
            "token_keys": None if is_ours or options["dry_run"] else ",".join(pairs),
            "dry_run": options["dry_run"],
        }


def _has_keys_of_this_process(path: Path) -> bool:
    return path.read_text().strip() == conf.TOKEN_KEYS
