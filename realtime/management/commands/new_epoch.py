from typing import Any

from django.core.management.base import CommandParser

from accounts.management.user_commands import find_user
from accounts.services import audit
from core.commands import OperatorCommand, actor
from realtime.models import Stream
from realtime.services import event_log


class Command(OperatorCommand):
    help = "Make every client reload, as after a restore: event logs begin a new epoch."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="only this user: e-mail address or id")

    def act(self, **options: Any) -> dict[str, Any]:
        user_ids = [find_user(options["user"]).id] if options["user"] is not None else None
        if options["dry_run"]:
            changed = len(user_ids) if user_ids else Stream.objects.count()
        else:
            changed = event_log.start_new_epoch(user_ids)
            audit.record(action="log.new_epoch", actor=actor(), people=changed)
        return {"people": changed, "dry_run": options["dry_run"]}
