"""`manage.py enable_webhook`: sends events again to a target that had answered 410."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import NothingMatched, OperatorCommand, actor
from integrations.models import WebhookTarget
from integrations.services import webhooks


class Command(OperatorCommand):
    help = "Switch a webhook target on again. Events of the time in between stay readable for 14 days."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the target, as WEBHOOKS names it")

    def act(self, **options: Any) -> dict[str, Any]:
        name, is_dry = options["name"], options["dry_run"]
        is_off = WebhookTarget.objects.filter(name=name).exclude(switched_off_at=None).exists()
        if not is_off or not (is_dry or webhooks.enable(name=name, actor=actor())):
            raise NothingMatched(f"There is no webhook target {name!r} that is switched off.")
        return {"name": name, "enabled": True, "dry_run": is_dry}
