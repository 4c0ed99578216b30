"""`manage.py emit_event`: report a like, comment, reply or follow from the command line."""

import argparse
import json
import sys
import uuid
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from accounts.services import audit
from core.commands import PlainCommand, actor, discard_output, moment
from core.ids import parse_id
from notifications.conf import conf
from notifications.kinds import EVENT_KINDS, KINDS
from notifications.services import ingestion


class Command(PlainCommand):
    help = "Add an event to a user's feed. Without options, read events as JSON lines from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--type", help=", ".join(kind for kind in KINDS if kind in EVENT_KINDS))
        parser.add_argument("--recipient-id", help="id of the user whose feed gets the event")
        parser.add_argument("--actor-id", help="id of the user who acted")
        parser.add_argument("--target-id", help="the post")
        parser.add_argument("--target-title", help="its title")
        parser.add_argument("--comment-id", help="the comment, to distinguish several")
        parser.add_argument("--event-id", help="idempotency key: the event counts once; random by default")
        parser.add_argument("--occurred-at", help="a moment in ISO 8601; now without")
        parser.add_argument("--retract", action="store_true", help="retract the event")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen; change nothing")
        parser.add_argument("--json", action="store_true", help="a line of JSON for each event, with or without it")

    def handle(self, *args: Any, **options: Any) -> None:
        names = (
            "type", "recipient_id", "actor_id", "target_id", "target_title", "comment_id", "event_id",
            "occurred_at",
        )  # fmt: skip
        values = {name: options[name] for name in names if options[name] is not None}
        events = [_event(values, retract=options["retract"])] if values or options["retract"] else _lines()
        counts: Counter[str] = Counter()
        # Each event is a transaction of its own; a dry run rolls it back.
        with transaction.atomic() if options["dry_run"] else nullcontext():
            for start in range(0, len(events), conf.EVENTS_PER_REQUEST):
                batch = events[start : start + conf.EVENTS_PER_REQUEST]
                results = ingestion.ingest(source=ingestion.LOCAL, events=batch)
                counts.update(str(result["result"]) for result in results)
                self.print_lines(json.dumps(result, ensure_ascii=False) for result in results)
            if options["dry_run"]:
                transaction.set_rollback(True)
        rejected = sum(count for result, count in counts.items() if result.startswith("rejected:"))
        if not options["dry_run"] and rejected < len(events):
            audit.record(action="emit_event", actor=actor(), results=dict(counts))
        if rejected:
            raise CommandError(f"{rejected} of {len(events)} events were rejected.")

    def print_lines(self, lines: Iterable[str]) -> None:
        """Prints results. The events that follow are added even when the reader has closed the pipe."""
        try:
            for line in lines:
                self.stdout.write(line)
            self.stdout.flush()
        except BrokenPipeError:
            discard_output()


def _event(values: dict[str, Any], *, retract: bool) -> dict[str, Any]:
    for name in ("type", "recipient_id", "actor_id"):
        if name not in values:
            raise CommandError(f"--{name.replace('_', '-')} is needed.", returncode=2)
    event: dict[str, Any] = {
        "event_id": values.get("event_id", str(uuid.uuid4())),
        "type": values["type"],
        "action": "retract" if retract else "create",
        "recipient_id": _number("recipient_id", values["recipient_id"]),
        "actor_id": _number("actor_id", values["actor_id"]),
    }
    if "comment_id" in values:
        event["comment_id"] = _number("comment_id", values["comment_id"])
    if "occurred_at" in values:
        event["occurred_at"] = _occurred_at(values["occurred_at"])
    if "target_id" in values:
        event["target"] = {"id": _number("target_id", values["target_id"]), "title": values.get("target_title", "")}
    return event


def _number(name: str, text: str) -> int:
    number = parse_id(text)
    if number is None:
        raise CommandError(f"--{name.replace('_', '-')} is a positive whole number, not {text!r}.", returncode=2)
    return number


def _occurred_at(text: str) -> str:
    try:
        at = moment(text)
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"--occurred-at: {error}.", returncode=2) from error
    if at < ingestion.EARLIEST:
        raise CommandError(f"--occurred-at: {text!r} is before {ingestion.EARLIEST:%Y-%m-%d}.", returncode=2)
    return str(at.isoformat())


def _lines() -> list[dict[str, Any]]:
    events = []
    for number, line in enumerate(_standard_input(), start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"Line {number} is not JSON.") from error
        if not isinstance(event, dict):
            raise CommandError(f"Line {number} is not a JSON object.")
        events.append(event)
    if not events:
        raise CommandError("There is no event: give flags, or JSON lines on standard input.", returncode=2)
    return events


def _standard_input() -> list[str]:
    if sys.stdin is None or sys.stdin.isatty():
        return []
    try:
        # `splitlines` would also split at Unicode line breaks, which JSON may contain.
        return sys.stdin.read().split("\n")
    except UnicodeDecodeError as error:
        raise CommandError("Standard input is not UTF-8.") from error
