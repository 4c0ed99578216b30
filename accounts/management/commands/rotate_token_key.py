import secrets
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.conf import conf
from accounts.services import audit
from core.conf import project
from core.operator import OperatorCommand, actor


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
        is_ours = path.exists() and path.read_text().strip() == conf.TOKEN_KEYS
        if not options["dry_run"]:
            if is_ours:
                path.write_text(",".join(pairs))
                self.report("Written; processes use it after their next start.")
            else:
                self.report("Set this as TOKEN_KEYS for every process, then restart them one after another.")
            audit.record(action="token_key.rotated", actor=actor(), kids=kids)
        return {
            "kids": kids,
            "signing": kids[0],
            "token_keys": None if is_ours or options["dry_run"] else ",".join(pairs),
            "dry_run": options["dry_run"],
        }
