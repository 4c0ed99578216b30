"""Deletes expired codes, tokens and counters, old sessions, and accounts that were never confirmed."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accounts.conf import conf
from accounts.models import (
    Code,
    CodeTries,
    EmailChange,
    NetworkLock,
    OneTimeToken,
    RateCount,
    Session,
    TrustedDevice,
    UnknownAddress,
)
from accounts.services import registration
from accounts.services.erasure import erase_due
from core.database.deletion import DeletionJobs, delete_in_batches

# Support may ask about a code or an unfinished step for a while after it is over.
KEPT_STEPS = timedelta(days=7)


# The longest window that a rate is counted in is a day.
KEPT_COUNTS = timedelta(days=2)


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    unconfirmed_since = now - timedelta(days=conf.UNCONFIRMED_DAYS)
    quiet_since = now - timedelta(hours=conf.LOCK_QUIET_HOURS)
    sessions_before = now - timedelta(days=conf.SESSIONS_KEPT_DAYS)
    old_sessions = Q(ended_at__lt=sessions_before) | Q(token_expires_at__lt=sessions_before)
    expired: dict[str, QuerySet[Any, Any]] = {
        "codes": Code.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "code_tries": CodeTries.objects.filter(created_at__lt=now - KEPT_STEPS),
        "one_time_tokens": OneTimeToken.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "email_changes": EmailChange.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "trusted_devices": TrustedDevice.objects.filter(expires_at__lt=now),
        "sessions": Session.objects.filter(old_sessions, token_expires_at__lt=now),
        # Without a time after a success.
        "network_locks": NetworkLock.objects.filter(Q(wrong_password_at=None) | Q(wrong_password_at__lt=quiet_since)),
        "unknown_addresses": UnknownAddress.objects.filter(touched_at__lt=quiet_since),
        "rate_counts": RateCount.objects.filter(window_starts_at__lt=now - KEPT_COUNTS),
    }
    return {
        "accounts_unconfirmed": iter(
            lambda: registration.purge_unconfirmed(created_before=unconfirmed_since, batch=batch), 0
        ),
        "accounts_erased": iter(lambda: erase_due(now=now, batch=batch), 0),
        **{kind: delete_in_batches(rows, batch) for kind, rows in expired.items()},
    }
