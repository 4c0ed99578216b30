from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor


class Command(UserCommand):
    help = "Unblock an account. Sessions that ended stay ended."

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"blocked": False}

    def change(self, user: User, **options: Any) -> None:
        account_status.unblock(user=user, reason=options["reason"], actor_label=actor())
