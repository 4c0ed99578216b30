"""`manage.py changepassword`: asks for a new password, and ends what the old one opened."""

import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserNotFound
from accounts.management.user_commands import find_user
from accounts.models import User
from accounts.services import account_status
from accounts.services.registration import refuse_weak_password
from core.operator import NothingMatched, PlainCommand, actor

TRIES = 3


class Command(PlainCommand):
    """In place of Django's, which writes back the whole account as it was before the password was typed."""

    help = "Ask for a new password of an account, and sign it out everywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")

    def handle(self, *args: Any, **options: Any) -> str:
        user = find_user(options["user"])
        self.stderr.write(f"Changing the password of {user.email}.")
        new_password = self._ask(user)
        try:
            account_status.set_password(
                user=user, actor=actor(), new_password=new_password, reason="manage.py changepassword"
            )
        except UserNotFound as error:  # removed while the password was typed
            raise NothingMatched(str(error.detail)) from error
        return f"The password of {user.email} was changed."

    def _ask(self, user: User) -> str:
        """A password that is strong enough, typed twice. CommandError after three tries."""
        for _ in range(TRIES):
            password = getpass.getpass("New password: ")
            if getpass.getpass("Once more: ") != password:
                self.stderr.write("The two differ.")
                continue
            try:
                refuse_weak_password(password, user, field="password")
            except ValidationError as error:
                self.stderr.write("\n".join(map(str, error.detail["password"])))  # type: ignore[call-overload]
                continue
            return password
        raise CommandError("Nothing was changed.")
