from typing import Any

from django.core.management.base import CommandParser

from accounts.management.operator import OperatorCommand, actor, find_user
from accounts.services import standing


class Command(OperatorCommand):
    help = "Switch two-step off for a person who lost the second password; they are told by mail."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--reason", required=True, help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        was_on = user.two_step_enabled
        if not options["dry_run"]:
            standing.reset_two_step(user=user, reason=options["reason"], actor_label=actor())
        return {
            "user_id": user.id,
            "email": user.email,
            "two_step": False,
            "changed": was_on,
            "dry_run": options["dry_run"],
        }
