from typing import Any

from accounts.management.operator import UserCommand, actor
from accounts.models import User
from accounts.services import standing


class Command(UserCommand):
    help = "Sign a person out everywhere: sessions, sockets, pushes, trusted devices."

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        return {"sessions_ended": user.sessions.filter(ended_at=None).count()}

    def change(self, user: User, **options: Any) -> None:
        standing.sign_out_everywhere(user=user, reason=options["reason"], actor_label=actor())
