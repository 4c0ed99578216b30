"""The base class of the commands for one account, and the search for that account."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from accounts.models import User
from accounts.selectors import has_address
from core.characters import is_invisible
from core.commands import NothingMatched, OperatorCommand, actor, not_blank
from core.ids import parse_id
from core.text import is_encodable


class UserCommand(OperatorCommand):
    """A command for one user. Subclasses name the service that makes the change, and describe it before it is made."""

    service: Callable[..., object]
    preview: Callable[[User, dict[str, Any]], dict[str, Any]]
    service_options: tuple[str, ...] = ("reason",)
    reason_is_required = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        required = self.reason_is_required
        kind = not_blank if required else str
        parser.add_argument(
            "--reason",
            default="",
            type=kind,
            required=required,
            help="kept in the audit log, and part of the export of the user's data",
        )

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options.pop("user"))
        result = {"user_id": user.id, "email": user.email, **self.preview(user, options)}
        if not options["dry_run"]:
            self.service(user=user, actor=actor(), **{name: options[name] for name in self.service_options})
        return result | {"dry_run": options["dry_run"]}


def find_user(text: str, *, with_erased: bool = False) -> User:
    """The account of an e-mail address or id. NothingMatched without one, and for an erased one unless `with_erased`."""
    if is_invisible(text):
        raise CommandError("Name the account: its e-mail address or its id.", returncode=2)
    if not is_encodable(text) or "\0" in text:
        # Bytes that are not UTF-8 arrive as lone surrogates. Databases refuse both.
        raise NothingMatched(f"There is no account {text!r}.")
    query = has_address(text)
    if (user_id := parse_id(text)) is not None:
        query |= Q(id=user_id)
    user = User.objects.filter(query).first()
    if user is None:
        raise NothingMatched(f"There is no account {text}.")
    if user.erased_at is not None and not with_erased:
        raise NothingMatched(f"The account {text} has been erased.")
    return user
