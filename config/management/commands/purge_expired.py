from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.services import audit, pictures
from accounts.services import retention as accounts
from core.operator import OperatorCommand, actor, positive
from messaging.services import retention as messaging
from notifications.services import retention as notifications
from realtime.services import retention as realtime

APPS = {"accounts": accounts, "messaging": messaging, "notifications": notifications, "realtime": realtime}


class Command(OperatorCommand):
    help = (
        "Delete expired data: codes, sessions, tokens, unconfirmed accounts and accounts due for deletion, event log, "
        "cleared messages, orphan media, delivery log. Two runs at once are safe; run it every hour."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--limit", type=positive, default=1000, help="rows of a kind in one transaction (1000)")

    def act(self, **options: Any) -> dict[str, Any]:
        removed: dict[str, int] = {}
        for name, app in self.progress(APPS.items(), total=len(APPS), what="purge"):
            while True:
                counts = self.once(app, options["limit"], dry_run=options["dry_run"])
                for kind, count in counts.items():
                    removed[f"{name}.{kind}"] = removed.get(f"{name}.{kind}", 0) + count
                # A dry run would see the same rows again, so it reports the first batch only.
                if options["dry_run"] or not any(counts.values()):
                    break
        if not options["dry_run"]:
            removed["files"] = pictures.purge_orphans()
            if any(removed.values()):
                audit.record(action="purge_expired", actor_label=actor(), removed=removed)
        return {**removed, "dry_run": options["dry_run"]}

    def once(self, app: Any, batch: int, *, dry_run: bool) -> dict[str, int]:
        if not dry_run:
            return app.purge(timezone.now(), batch)
        with transaction.atomic():
            counts = app.purge(timezone.now(), batch)
            transaction.set_rollback(True)
        return counts
