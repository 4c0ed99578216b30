from typing import Any

from accounts.management.operator import UserCommand, actor
from accounts.models import User
from accounts.services import standing


class Command(UserCommand):
    help = "Forget wrong passwords of an account, so that its owner can sign in at once."

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        return {"locked": False}

    def change(self, user: User, **options: Any) -> None:
        standing.unlock(user=user, reason=options["reason"], actor_label=actor())
