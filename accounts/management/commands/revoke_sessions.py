from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor


class Command(UserCommand):
    help = "Sign a user out everywhere: sessions, sockets, pushes, trusted devices."

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"sessions_ended": user.sessions.not_ended().count()}

    def change(self, user: User, **options: Any) -> None:
        account_status.sign_out_everywhere(user=user, reason=options["reason"], actor_label=actor())
