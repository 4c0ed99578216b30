from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor


class Command(UserCommand):
    help = "Reset the count of wrong passwords, so that the user can sign in immediately."

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"locked": False}

    def change(self, user: User, **options: Any) -> None:
        account_status.unlock(user=user, reason=options["reason"], actor_label=actor())
