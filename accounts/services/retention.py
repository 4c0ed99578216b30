"""Deletes expired codes, tokens and counters, old sessions, and accounts that were never confirmed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from accounts.conf import conf
from accounts.models import (
    Code,
    CodeTries,
    EmailChange,
    NetworkLock,
    PendingToken,
    RateCount,
    Session,
    TrustedDevice,
    UnknownAddress,
)
from accounts.services import erasure, registration
from core.database import delete_batch

# Support may ask about a code or an unfinished step for a while after it is over.
KEPT_STEPS = timedelta(days=7)
# The longest window that a rate is counted in is a day.
KEPT_COUNTS = timedelta(days=2)


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Runs each of the jobs once. Returns the number of rows per kind."""
    return {kind: delete(batch) for kind, delete in jobs(now).items()}


def jobs(now: datetime) -> dict[str, Callable[[int], int]]:
    """For each kind of row a function that deletes at most `batch` of them in short transactions and returns how many.

    Call it again while that is not 0. Concurrent calls are safe.
    """
    unconfirmed_since = now - timedelta(days=conf.UNCONFIRMED_DAYS)
    quiet_since = now - timedelta(hours=conf.LOCK_QUIET_HOURS)
    sessions_before = now - timedelta(days=conf.SESSIONS_KEPT_DAYS)
    old_sessions = Q(ended_at__lt=sessions_before) | Q(token_expires_at__lt=sessions_before)
    expired: dict[str, QuerySet[Any, Any]] = {
        "codes": Code.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "code_tries": CodeTries.objects.filter(created_at__lt=now - KEPT_STEPS),
        "pending_tokens": PendingToken.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "email_changes": EmailChange.objects.filter(expires_at__lt=now - KEPT_STEPS),
        "trusted_devices": TrustedDevice.objects.filter(expires_at__lt=now),
        "sessions": Session.objects.filter(old_sessions, token_expires_at__lt=now),
        "network_locks": NetworkLock.objects.filter(wrong_password_at__lt=quiet_since),
        "unknown_addresses": UnknownAddress.objects.filter(touched_at__lt=quiet_since),
        "rate_counts": RateCount.objects.filter(window_starts_at__lt=now - KEPT_COUNTS),
    }
    return {
        "accounts_unconfirmed": lambda batch: registration.purge_unconfirmed(
            created_before=unconfirmed_since, batch=batch
        ),
        "accounts_erased": lambda batch: erasure.erase_due(now=now, batch=batch),
        **{kind: partial(delete_batch, rows) for kind, rows in expired.items()},
    }
