from typing import Any

from django.core.management.base import CommandParser

from accounts.management.operator import OperatorCommand, actor, find_user
from accounts.services import standing


class Command(OperatorCommand):
    help = "Erase an account and everything personal. This cannot be undone."
    confirmed = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--reason", required=True, help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        user_id, email = user.id, user.email
        if not options["dry_run"]:
            standing.erase(user=user, reason=options["reason"], actor_label=actor())
        return {"user_id": user_id, "email": email, "erased": True, "dry_run": options["dry_run"]}
