"""`manage.py retry_deliveries`: send failed pushes again, or pending ones now."""

from typing import Any

from django.core.management.base import CommandParser

from core.operator import NothingMatched, OperatorCommand, actor, moment, positive
from notifications.services import delivery


class Command(OperatorCommand):
    help = "Send failed pushes again; with --state pending, send pending ones now."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="*", type=positive, help="only these rows")
        parser.add_argument("--state", choices=["dead", "pending"], default="dead")
        parser.add_argument("--channel", choices=["push", "mail"])
        parser.add_argument("--since", type=moment, help="only rows from this day or moment on")
        parser.add_argument("--limit", type=positive, default=1000)
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def act(self, **options: Any) -> dict[str, Any]:
        rows = delivery.retriable(
            state=options["state"],
            channel=options["channel"],
            ids=options["ids"] or None,
            since=options["since"],
        )
        ids = list(rows.values_list("id", flat=True)[: options["limit"]])
        if not ids:
            raise NothingMatched("No delivery matches that can be sent again.")
        if not options["dry_run"]:
            delivery.retry(ids=ids, actor=actor(), reason=options["reason"])
        return {"count": len(ids), "ids": ids, "dry_run": options["dry_run"]}
