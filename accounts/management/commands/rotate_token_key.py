import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.conf import conf
from accounts.management.operator import OperatorCommand, actor
from accounts.services import audit


class Command(OperatorCommand):
    help = (
        "Make a new key for session tokens. First `--stage`: the key verifies everywhere but signs nowhere; "
        "when every process runs with it, without `--stage`: it signs. Nobody is signed out."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--stage", action="store_true", help="add a new key that only verifies yet")
        parser.add_argument(
            "--drop-oldest", action="store_true", help="remove the last key (a week after it signed last)"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        pairs = [pair.strip() for pair in conf.TOKEN_KEYS.split(",") if pair.strip()]
        if options["drop_oldest"]:
            pairs = pairs[:-1] or pairs
        elif options["stage"]:
            pairs.append(f"{timezone.now():%Y%m%d%H%M%S}:{secrets.token_urlsafe(48)}")
        elif len(pairs) > 1 and pairs[-1].split(":")[0] > pairs[0].split(":")[0]:
            pairs.insert(0, pairs.pop())  # the staged key begins to sign
        else:
            pairs.insert(0, f"{timezone.now():%Y%m%d%H%M%S}:{secrets.token_urlsafe(48)}")
        kids = [pair.split(":")[0] for pair in pairs]
        kept_in = settings.VAR_DIR / "token_keys.txt"
        is_ours = kept_in.exists() and kept_in.read_text().strip() == conf.TOKEN_KEYS
        if not options["dry_run"]:
            if is_ours:
                kept_in.write_text(",".join(pairs))
                self.note("Written; processes use it after their next start.")
            else:
                self.note("Set this as TOKEN_KEYS for every process, then restart them one after another.")
            audit.record(action="token_key.rotated", actor_label=actor(), kids=kids)
        return {
            "kids": kids,
            "signing": kids[0],
            "token_keys": None if is_ours or options["dry_run"] else ",".join(pairs),
            "dry_run": options["dry_run"],
        }
