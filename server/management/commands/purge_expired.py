from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session as AdminCookie
from django.core.management.base import CommandParser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.images import pictures
from accounts.services import audit
from accounts.services import purge as accounts
from core.commands import OperatorCommand, actor, positive
from core.database.deletion import run_first_batches
from integrations.services import event_log as events
from messaging.services import purge as messaging
from notifications.services import purge as notifications
from realtime.services import purge as realtime

APPS = {
    "accounts": accounts,
    "messaging": messaging,
    "notifications": notifications,
    "realtime": realtime,
    "integrations": events,
}


class Command(OperatorCommand):
    help = (
        "Delete expired data: codes, sessions, tokens, unconfirmed accounts and accounts due for deletion, event log, "
        "cleared messages, orphan media, delivery log. Two runs at once are safe; run it every hour."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--limit",
            type=positive,
            default=1000,
            help="rows of a kind in one transaction, and where a dry run stops counting (1000)",
        )

    def act(self, **options: Any) -> dict[str, Any]:
        now, limit = timezone.now(), options["limit"]
        if options["dry_run"]:
            return {**self.counts(now, limit), "dry_run": True}
        jobs = {f"{name}.{kind}": job for name, app in APPS.items() for kind, job in app.jobs(now, limit).items()}
        removed = dict.fromkeys(jobs, 0)
        batches = ((kind, count) for kind, job in jobs.items() for count in job)
        try:
            for kind, count in self.progress(batches, what="purge, batches"):
                removed[kind] += count
            removed["admin_cookies"] = _expired_cookies(now).delete()[0]
            removed["files"] = pictures.purge_orphans()
        finally:
            # Recorded even when the command is stopped half way.
            if any(removed.values()):
                audit.record(action="purge_expired", actor=actor(), removed=removed)
        return {**removed, "dry_run": False}

    def counts(self, now: datetime, limit: int) -> dict[str, int]:
        """Counts the rows of each kind up to the limit. They are deleted in a transaction that is rolled back."""
        counts = {"admin_cookies": _expired_cookies(now).count()}
        for name, app in APPS.items():
            with transaction.atomic():
                deleted = run_first_batches(app.jobs(now, limit), limit)
                counts |= {f"{name}.{kind}": count for kind, count in deleted.items()}
                transaction.set_rollback(True)
        if partly := [kind for kind, count in counts.items() if count >= limit]:
            self.report(f"{limit:,} or more: {', '.join(partly)}. A higher --limit counts further.")
        return counts


def _expired_cookies(now: datetime) -> QuerySet[AdminCookie]:
    """Django's sessions for the cookies of the support pages. They are few, as only staff have them."""
    return AdminCookie.objects.filter(expire_date__lt=now)
