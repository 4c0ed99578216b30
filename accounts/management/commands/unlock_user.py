from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status


class Command(UserCommand):
    help = "Reset the count of wrong passwords, so that the user can sign in immediately."
    service = staticmethod(account_status.unlock)

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"locked": False}
