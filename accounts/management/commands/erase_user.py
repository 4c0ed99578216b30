from typing import Any

from accounts.management.user_commands import UserCommand
from accounts.models import User
from accounts.services import account_status


class Command(UserCommand):
    help = "Erase an account and all personal data. This cannot be undone."
    service = staticmethod(account_status.erase)
    confirmed = True

    def preview(self, user: User, **options: Any) -> dict[str, Any]:
        return {"erased": True}
