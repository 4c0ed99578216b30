from typing import Any

from django.core.management.base import CommandParser

from accounts.management.operator import OperatorCommand, actor, find_user, moment
from accounts.services import standing


class Command(OperatorCommand):
    help = "Block an account: every sign-in ends, signing in answers account_blocked."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--reason", required=True, help="kept in the audit log")
        parser.add_argument(
            "--until", type=moment, help="a day (2027-01-01) or a moment in UTC; without it, until unblocked"
        )

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        ended = user.sessions.filter(ended_at=None).count()
        if not options["dry_run"]:
            ended = standing.block(user=user, reason=options["reason"], until=options["until"], actor_label=actor())
        return {
            "user_id": user.id,
            "email": user.email,
            "blocked": True,
            "until": options["until"],
            "sessions_ended": ended,
            "dry_run": options["dry_run"],
        }
