"""`manage.py changepassword`: asks for a new password, and ends what the old one opened."""

import getpass
from typing import Any, cast

from django.core.management.base import CommandError, CommandParser
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserNotFound
from accounts.management.user_commands import find_user
from accounts.services import account_status
from core.commands import NothingMatched, PlainCommand, actor

TRIES = 3


class Command(PlainCommand):
    """Replaces Django's command, which saves the whole account as it was before the password was typed."""

    help = "Ask for a new password of an account, and sign it out everywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")

    def handle(self, *args: Any, **options: Any) -> str:
        user = find_user(options["user"])
        self.report(f"Changing the password of {user.email}.")
        for _ in range(TRIES):
            password = getpass.getpass("New password: ")
            if getpass.getpass("Once more: ") != password:
                self.stderr.write("The two differ.")
                continue
            try:
                account_status.set_password(
                    user=user, actor=actor(), new_password=password, reason="manage.py changepassword"
                )
            except ValidationError as error:
                self.stderr.write("\n".join(cast(dict[str, list[str]], error.detail)["new_password"]))
            except UserNotFound as error:  # removed while the password was typed
                raise NothingMatched(str(error.detail)) from error
            else:
                return f"The password of {user.email} was changed."
        raise CommandError("Nothing was changed.")
