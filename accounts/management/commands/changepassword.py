"""`manage.py changepassword`: Django's command, which also ends what the old password opened."""

from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.core.management.base import CommandParser
from django.db import DEFAULT_DB_ALIAS

from accounts.management.user_commands import find_user
from accounts.services import account_status
from core.operator import PlainCommand, actor


class Command(PlainCommand, changepassword.Command):
    help = "Ask for a new password of an account, and sign it out everywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")

    def handle(self, *args: Any, **options: Any) -> Any:
        user = find_user(options["user"])
        said = changepassword.Command.handle(self, username=user.email, database=DEFAULT_DB_ALIAS)
        account_status.sign_out_everywhere(user=user, actor=actor(), reason="manage.py changepassword")
        return said
