"""`manage.py revoke_server_key`: ends a key at once."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import NothingMatched, OperatorCommand, actor
from integrations.services import keys


class Command(OperatorCommand):
    help = "Revoke all server keys of a name, or the one with this beginning. Sessions that they opened go on."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the name, or the eight letters after sk_")
        parser.add_argument("--sessions", action="store_true", help="also end the sessions that they opened")
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        found = keys.named(options["key"])
        if not found:
            raise NothingMatched(f"There is no live server key {options['key']!r}.")
        ended = 0
        if not options["dry_run"]:
            ended = keys.revoke(keys=found, actor=actor(), reason=options["reason"], end_sessions=options["sessions"])
        return {
            "revoked": [str(key) for key in found],
            "sessions_ended": ended,
            "dry_run": options["dry_run"],
        }
