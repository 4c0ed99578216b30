from typing import Any

from accounts.management.operator import UserCommand, actor
from accounts.models import User
from accounts.services import standing


class Command(UserCommand):
    help = "Erase an account and everything personal. This cannot be undone."
    confirmed = True

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        return {"erased": True}

    def change(self, user: User, **options: Any) -> None:
        standing.erase(user=user, reason=options["reason"], actor_label=actor())
