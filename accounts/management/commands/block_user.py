from typing import Any

from django.core.management.base import CommandParser

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor, future_moment


class Command(UserCommand):
    help = "Block an account: all sessions end, and signing in returns account_blocked."
    reason_is_required = True

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument(
            "--until", type=future_moment, help="a day (2027-01-01) or a moment in UTC; without it, until unblocked"
        )

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        ending = user.sessions.not_ended().count()
        return {"blocked": True, "until": options["until"], "sessions_ended": ending}

    def change(self, user: User, **options: Any) -> None:
        account_status.block(user=user, reason=options["reason"], until=options["until"], actor_label=actor())
