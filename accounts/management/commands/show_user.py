from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.user_commands import find_user
from accounts.sign_in import lockout, second_step
from core.commands import OperatorCommand
from core.languages import language_tag


class Command(OperatorCommand):
    help = "Show the status of an account. Read-only; no code, password or token is shown."
    changes = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"], with_erased=True)
        now = timezone.now()
        return {
            "user_id": user.id,
            "external_id": user.external_id,
            "email": user.email,
            "username": user.username,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "language": language_tag(user.language),
            "created_at": user.created_at,
            "last_seen_at": user.last_seen_at,
            "is_verified": user.has_verified_email,
            "is_staff": user.is_staff,
            "blocked": user.is_blocked(now),
            "blocked_until": user.blocked_until,
            "blocked_reason": user.blocked_reason,
            "locked_until": lockout.locked_until(user, now),
            "wrong_passwords": user.wrong_passwords,
            "wrong_second_passwords": second_step.wrong_guesses_today(user),
            "two_step": user.two_step_enabled,
            "recovery_codes_left": user.recovery_codes.unused().count(),
            "sessions": user.sessions.signed_in(now).count(),
            "trusted_devices": user.trusted_devices.live(now).count(),
            "erase_after": user.erase_after,
            "erased_at": user.erased_at,
        }
