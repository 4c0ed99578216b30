from typing import Any

from accounts.management.operator import UserCommand, actor
from accounts.models import User
from accounts.services import standing


class Command(UserCommand):
    help = "Unblock an account; sign-ins that ended stay ended."

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        return {"blocked": False}

    def change(self, user: User, **options: Any) -> None:
        standing.unblock(user=user, reason=options["reason"], actor_label=actor())
