"""What every operator's command has in common.

Data on stdout, notes and progress on stderr; `--json`, `--dry-run`, `--yes`; exit codes 0 done,
1 failed, 2 wrong usage, 3 nothing matched; colours and bars on a terminal only.
"""

import argparse
import getpass
import json
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.exceptions import APIException
from tqdm import tqdm

from accounts.fields import parse_id
from accounts.models import User

NOTHING_MATCHED = 3
T = TypeVar("T")


class NothingMatched(CommandError):
    """What the command was asked about does not exist: exit code 3."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=NOTHING_MATCHED)


class OperatorCommand(BaseCommand):
    """Subclasses define `arguments(parser)` and `act(**options)`, which returns what is printed."""

    changes = True  # False: reads only, so --dry-run and --yes make no sense
    confirmed = False  # True: asks before it acts, unless --yes

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        if self.changes:
            parser.add_argument("--dry-run", action="store_true", help="say what would happen, change nothing")
            parser.add_argument("--yes", action="store_true", help="do not ask")
        self.arguments(parser)

    def arguments(self, parser: CommandParser) -> None:
        """The command's own arguments."""

    def act(self, **options: Any) -> dict[str, Any]:
        """Does the work and returns the result, a flat object."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        if self.confirmed and not (options["dry_run"] or options["yes"]):
            self.confirm()
        try:
            result = self.act(**options)
            self.show(result, as_json=options["json"])
            sys.stdout.flush()
        except APIException as error:
            raise CommandError(str(error.detail)) from error
        except DatabaseError as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise CommandError(f"The database refuses: {reason}. See `manage.py doctor`.") from error
        except BrokenPipeError:
            # `… | head` closed the pipe: no traceback, and nothing more to write at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def show(self, result: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(result, default=as_text, ensure_ascii=False, indent=2))
            return
        width = max((len(name) for name in result), default=0)
        for name, value in result.items():
            text = json.dumps(value, default=as_text, ensure_ascii=False) if isinstance(value, dict | list) else value
            self.stdout.write(f"{name:<{width}}  {'' if text is None else text}")

    def note(self, text: str) -> None:
        """A remark for the person, not for a pipe."""
        self.stderr.write(text)

    def confirm(self) -> None:
        if not sys.stdin.isatty():
            raise CommandError("This needs --yes when nobody can be asked.")
        if input(f"{self.help} Go on? [y/N] ").strip().lower() not in ("y", "yes"):
            raise CommandError("Left as it was.")

    def progress(self, items: Iterable[T], *, total: int | None = None, what: str = "") -> Iterator[T]:
        """The items, with a bar on a terminal."""
        return iter(tqdm(items, total=total, desc=what, file=sys.stderr, disable=not sys.stderr.isatty()))


class UserCommand(OperatorCommand):
    """A command for one person. Subclasses define `change`, and `outlook` for what it does."""

    reason_is_required = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        kind = words if self.reason_is_required else str
        required = self.reason_is_required
        parser.add_argument("--reason", default="", type=kind, required=required, help="kept in the audit log")

    def outlook(self, user: User, **options: Any) -> dict[str, Any]:
        """What the change comes to, read before it happens."""
        return {}

    def change(self, user: User, **options: Any) -> None:
        """Calls the service."""
        raise NotImplementedError

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options.pop("user"))
        result = {"user_id": user.id, "email": user.email, **self.outlook(user, **options)}
        if not options["dry_run"]:
            self.change(user, **options)
        return result | {"dry_run": options["dry_run"]}


def as_text(value: Any) -> str:
    """What JSON has no type for; a time as the API writes it."""
    return DjangoJSONEncoder().default(value) if isinstance(value, datetime) else str(value)


def actor() -> str:
    """How the audit log names whoever runs a command."""
    return f"cli:{getpass.getuser()}"


def find_user(text: str) -> User:
    """The account of an e-mail address or id. NothingMatched without one."""
    if not text.isprintable():
        # Bytes of a shell that are no UTF-8 arrive as lone surrogates, which no database takes.
        raise NothingMatched(f"There is no account {text!r}.")
    query = Q(email=text.strip().lower())
    if (user_id := parse_id(text)) is not None:
        query |= Q(id=user_id)
    user = User.objects.filter(query).first()
    if user is None:
        raise NothingMatched(f"There is no account {text}.")
    return user


def moment(text: str) -> Any:
    """argparse type: a day (`2027-01-01`, its midnight in UTC) or a moment in ISO 8601."""
    try:
        found = parse_datetime(text)
        if found is None and (day := parse_date(text)) is not None:
            found = datetime.combine(day, time.min)
    except ValueError:
        found = None
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a day (2027-01-01) nor a moment in ISO 8601")
    return found if timezone.is_aware(found) else timezone.make_aware(found, timezone.get_default_timezone())


def later(text: str) -> Any:
    """argparse type: a `moment` that is still to come."""
    found = moment(text)
    if found <= timezone.now():
        raise argparse.ArgumentTypeError(f"{text!r} is over")
    return found


def positive(text: str) -> int:
    """argparse type: the id of a row, or a number of rows."""
    number = parse_id(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number


def words(text: str) -> str:
    """argparse type: text that says something."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text
