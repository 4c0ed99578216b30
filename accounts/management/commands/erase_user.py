from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status
from core.operator import actor


class Command(UserCommand):
    help = "Erase an account and all personal data. This cannot be undone."
    confirmed = True

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"erased": True}

    def change(self, user: User, **options: Any) -> None:
        account_status.erase(user=user, reason=options["reason"], actor_label=actor())
