from django.core.management.base import CommandParser

from accounts.management.user_commands import UserCommand
from accounts.services import account_status
from core.commands import future_moment


class Command(UserCommand):
    help = "Block an account: all sessions end, and signing in returns account_blocked."
    service = staticmethod(account_status.block)
    service_options = ("reason", "until")
    reason_is_required = True
    preview = staticmethod(
        lambda user, options: {
            "blocked": True,
            "until": options["until"],
            "sessions_ended": user.sessions.not_ended().count(),
        }
    )

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument(
            "--until", type=future_moment, help="a day (2027-01-01) or a moment in UTC; without it, until unblocked"
        )
