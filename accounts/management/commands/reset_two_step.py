from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor


class Command(UserCommand):
    help = "Turn off two-step verification for a user who lost the second password. The user is notified by mail."

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"two_step": False, "changed": user.two_step_enabled}

    def change(self, user: User, **options: Any) -> None:
        account_status.reset_two_step(user=user, reason=options["reason"], actor_label=actor())
