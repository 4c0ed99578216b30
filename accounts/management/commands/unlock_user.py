from typing import Any

from django.core.management.base import CommandParser

from accounts.management.operator import OperatorCommand, actor, find_user
from accounts.services import standing


class Command(OperatorCommand):
    help = "Forget wrong passwords of an account, so that its owner can sign in at once."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        if not options["dry_run"]:
            standing.unlock(user=user, reason=options["reason"], actor_label=actor())
        return {"user_id": user.id, "email": user.email, "locked": False, "dry_run": options["dry_run"]}
