"""`manage.py addstatictoken`: django-otp's command, for staff only and with a row in the audit log."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.management.user_commands import find_user
from core.commands import PlainCommand, actor


class Command(PlainCommand):
    help = "Add one random recovery code to those of a staff member, and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")

    def handle(self, *args: Any, **options: Any) -> str:
        # Imported here: they need the apps of django-otp, which a project may do without.
        from django_otp.plugins.otp_totp.models import TOTPDevice

        from accounts.staff import sign_in

        user = find_user(options["user"])
        if not user.is_staff:
            raise CommandError(f"{user.email} is not a staff member.")
        if not TOTPDevice.objects.filter(user=user, confirmed=True).exists():
            # A code alone would count as a second factor, and then the site would not ask to set up an app.
            raise CommandError(f"{user.email} has no authenticator app yet: the password alone opens the page for it.")
        reason = "manage.py addstatictoken"
        return sign_in.add_static_code(user=user, reason=reason, actor=actor())
