from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status


class Command(UserCommand):
    help = "Unblock an account. Sessions that ended stay ended."
    service = staticmethod(account_status.unblock)

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"blocked": False}
