from typing import Any

from accounts.management.operator import UserCommand, actor
from accounts.models import User
from accounts.services import standing


class Command(UserCommand):
    help = "Switch two-step off for a person who lost the second password; they are told by mail."

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        return {"two_step": False, "changed": user.two_step_enabled}

    def change(self, user: User, **options: Any) -> None:
        standing.reset_two_step(user=user, reason=options["reason"], actor_label=actor())
