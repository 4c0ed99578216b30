"""Base classes of the management commands for operators.

Data on stdout, notes and progress on stderr; `--json`, `--dry-run`, `--yes`; exit codes 0 done,
1 failed, 2 wrong usage, 3 nothing matched; colours and bars on a terminal only.
"""

import argparse
import getpass
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connections
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.exceptions import APIException
from tqdm import tqdm

from core.characters import is_invisible
from core.ids import parse_id
from core.times import json_time

NOTHING_MATCHED = 3
T = TypeVar("T")


class NothingMatched(CommandError):
    """The object that the command names does not exist: exit code 3."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=NOTHING_MATCHED)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Raises errors of the database, the operating system or a service as a CommandError of one line."""
    try:
        yield
    except BrokenPipeError:  # the reader of the output has left
        raise
    except EOFError as error:  # Ctrl-D, or standard input is closed
        raise CommandError("No answer was given. Nothing was changed.") from error
    except UnicodeEncodeError as error:
        raise CommandError("The arguments hold bytes that are not UTF-8.", returncode=2) from error
    except APIException as error:
        kind = NothingMatched if error.status_code == HTTPStatus.NOT_FOUND else CommandError
        raise kind(str(error.detail)) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except DatabaseError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise CommandError(f"The database refuses: {reason}. See `manage.py doctor`.") from error


class PlainCommand(BaseCommand):
    """A command with errors of one sentence, without class names, and with progress that is not red."""

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            with errors_in_one_line():
                result = super().execute(*args, **self._converted(options))
                sys.stdout.flush()
                return result
        except BrokenPipeError:
            discard_output()
        except CommandError as error:
            if not getattr(self, "_called_from_command_line", False) or options.get("traceback"):
                raise
            self.stderr.write(str(error))
            connections.close_all()
            sys.exit(error.returncode)

    def _converted(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options, texts converted by the types of the arguments, which `call_command` does not do."""
        for argument in self.create_parser("manage.py", "")._actions:
            if argument.type is not None and isinstance(text := options.get(argument.dest), str):
                try:
                    options[argument.dest] = cast(Callable[[str], Any], argument.type)(text)
                except (argparse.ArgumentTypeError, ValueError) as error:
                    name = "/".join(argument.option_strings) or argument.dest
                    raise CommandError(f"{name}: {error}", returncode=2) from error
        return options

    def report(self, text: str) -> None:
        """Reports progress on stderr, so that it does not end up in a pipe."""
        self.stderr.write(text, lambda line: line)


class OperatorCommand(PlainCommand):
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
        self.show(self.act(**options), as_json=options["json"])

    def show(self, result: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            # Terminal escapes (set by manage.py) would make the output invalid JSON.
            is_utf8 = (self.stdout.encoding or "utf-8") == "utf-8"
            self.stdout.write(json.dumps(result, default=as_text, ensure_ascii=not is_utf8, indent=2))
            return
        # As JSON `dry_run` is a field; as text it is a sentence, and only in a dry run.
        shown = {name: value for name, value in result.items() if name != "dry_run"}
        if result.get("dry_run"):
            self.stdout.write("Dry run: nothing was changed.")
            shown = {dry_run_name(name): value for name, value in shown.items()}
        for line in table(shown):
            self.stdout.write(line)

    def confirm(self) -> None:
        # None: standard input is closed.
        if sys.stdin is None or not sys.stdin.isatty():
            raise CommandError("Without a terminal this needs --yes.", returncode=2)
        try:
            answer = input(f"{self.help} Go on? [y/N] ")
        except EOFError:  # Ctrl-D
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            raise CommandError("Cancelled. Nothing was changed.")

    def progress(self, items: Iterable[T], *, what: str) -> Iterator[T]:
        """The items, with a bar on a terminal."""
        return iter(tqdm(items, desc=what, file=sys.stderr, disable=not sys.stderr.isatty()))


def discard_output() -> None:
    """After `… | head` closed the pipe: no traceback, and nothing more to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def replace_file(path: Path, text: str) -> None:
    """Replaces a file atomically: an interrupted process leaves the old one. Only its owner can read the new file."""
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f"{path.name}.", encoding="utf-8", delete=False
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def dry_run_name(name: str) -> str:
    """The wording of a dry run: `erased` becomes `would be erased`, `sessions_ended` becomes `sessions would be ended`."""
    subject, _, done = name.rpartition("_")
    # A name with a dot is a category (`accounts.accounts_erased`), not an action.
    if "." in name or not done.endswith(("ed", "sent")):
        return name
    return f"would be {done}" if subject in ("", "is") else f"{subject} would be {done}"


def table(result: dict[str, Any], indent: str = "") -> Iterator[str]:
    """Names and values in two columns; an object in an object is indented below its name."""
    plain = [name for name, value in result.items() if not isinstance(value, dict) or not value]
    width = max((len(name) for name in plain), default=0)
    for name, value in result.items():
        if isinstance(value, dict) and value:
            yield f"{indent}{name}"
            yield from table(value, indent + "  ")
            continue
        text = json.dumps(value, default=as_text, ensure_ascii=False) if isinstance(value, dict | list) else value
        yield f"{indent}{name:<{width}}  {'' if text is None else text}".rstrip()


def as_text(value: Any) -> str:
    """Serializes values without a JSON type; times as the API writes them."""
    return json_time(value) if isinstance(value, datetime) else str(value)


def actor() -> str:
    """The actor label of the audit log for the operating-system user who runs the command."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run as a user id without a name
        return f"cli:{os.getuid()}"


def moment(text: str) -> Any:
    """argparse type: a day (`2027-01-01`, its midnight in UTC) or a moment in ISO 8601."""
    try:
        parsed = parse_datetime(text)
        if parsed is None and (day := parse_date(text)) is not None:
            parsed = datetime.combine(day, time.min)
        if parsed is not None:
            aware = parsed if timezone.is_aware(parsed) else timezone.make_aware(parsed, UTC)
            return aware.astimezone(UTC)
    except (OverflowError, ValueError):  # also a moment that is in the year 10000 in UTC
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is neither a day (2027-01-01) nor a moment in ISO 8601")


def future_moment(text: str) -> Any:
    """argparse type: a `moment` in the future."""
    at = moment(text)
    if at <= timezone.now():
        raise argparse.ArgumentTypeError(f"{text!r} is in the past")
    return at


def positive(text: str) -> int:
    """argparse type: an id, or a number of rows."""
    number = parse_id(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return number


def seconds(text: str) -> float:
    """argparse type: a duration in seconds, finite and not negative."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of seconds of at least 0")
    return number


def output_path(text: str) -> Path | None:
    """argparse type: a file or folder to write; None for an empty text. `-` is refused, because standard output has the
    result of the command."""
    if text == "-":
        raise argparse.ArgumentTypeError("must be a file or folder, not '-'")
    return Path(text) if text else None


def not_blank(text: str) -> str:
    """argparse type: text with at least one visible character."""
    if is_invisible(text):
        raise argparse.ArgumentTypeError("it is empty")
    return text
