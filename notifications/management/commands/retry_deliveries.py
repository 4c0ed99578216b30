"""`manage.py retry_deliveries`: send failed pushes again, or pending ones now."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import NothingMatched, OperatorCommand, actor, moment, positive
from notifications.models import Delivery
from notifications.services import delivery


class Command(OperatorCommand):
    help = "Send failed pushes again; with --state pending, send pending ones now."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="*", type=positive, help="only these deliveries")
        parser.add_argument("--state", choices=["dead", "pending"], default="dead")
        parser.add_argument("--channel", choices=["push", "mail", "webhook"])
        parser.add_argument("--since", type=moment, help="only deliveries from this day or moment on")
        parser.add_argument("--limit", type=positive, default=1000)
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        rows = Delivery.objects.retriable().filter(state=options["state"])
        if options["channel"]:
            rows = rows.filter(channel=options["channel"])
        if options["ids"]:
            rows = rows.filter(id__in=options["ids"])
        if options["since"]:
            rows = rows.filter(created_at__gte=options["since"])
        ids = list(rows.order_by("id").values_list("id", flat=True)[: options["limit"]])
        if not ids:
            raise NothingMatched("No delivery matches that can be sent again.")
        if not options["dry_run"]:
            delivery.retry(ids=ids, actor=actor(), reason=options["reason"])
        return {"count": len(ids), "ids": ids, "dry_run": options["dry_run"]}
