"""`manage.py send_test_webhook`: tests whether an event reaches a target."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from core.commands import NothingMatched, OperatorCommand, actor
from integrations import targets
from integrations.services import webhooks


class Command(OperatorCommand):
    help = "Queue an event of the type `test` for one webhook target; a running `serve` or `deliver` sends it."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the target, as WEBHOOKS names it")

    def act(self, **options: Any) -> dict[str, Any]:
        name = options["name"]
        try:
            target = targets.target(name)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if target is None:
            raise NothingMatched(f"WEBHOOKS names no target {name!r}.")
        if options["dry_run"]:
            return {"name": name, "queued": 0, "dry_run": True}
        event = webhooks.send_test(name=name, actor=actor())
        return {"name": name, "queued": 1, "webhook_id": event.webhook_id, "dry_run": False}
