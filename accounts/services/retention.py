"""Deletes expired codes, tokens and counters, old sessions, and accounts that were never confirmed."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet

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

# Support may ask about a code or an unfinished step for a while after it is over.
KEPT_STEPS = timedelta(days=7)
# The longest window that a rate is counted in is a day.
KEPT_COUNTS = timedelta(days=2)


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Deletes at most `batch` rows of each kind in short transactions. Returns the number per kind.

    Call again while the numbers are not 0. Two callers at once delete nothing twice.
    """
    unconfirmed_since = now - timedelta(days=conf.UNCONFIRMED_DAYS)
    quiet_since = now - timedelta(hours=conf.LOCK_QUIET_HOURS)
    sessions_before = now - timedelta(days=conf.SESSIONS_KEPT_DAYS)
    return {
        "accounts_unconfirmed": registration.purge_unconfirmed(created_before=unconfirmed_since, batch=batch),
        "accounts_erased": erasure.erase_due(now=now, batch=batch),
        "codes": _delete(Code.objects.filter(expires_at__lt=now - KEPT_STEPS), batch),
        "code_tries": _delete(CodeTries.objects.filter(created_at__lt=now - KEPT_STEPS), batch),
        "pending_tokens": _delete(PendingToken.objects.filter(expires_at__lt=now - KEPT_STEPS), batch),
        "email_changes": _delete(EmailChange.objects.filter(expires_at__lt=now - KEPT_STEPS), batch),
        "trusted_devices": _delete(TrustedDevice.objects.filter(expires_at__lt=now), batch),
        "sessions": _delete(
            Session.objects.filter(
                Q(ended_at__lt=sessions_before) | Q(token_expires_at__lt=sessions_before),
                token_expires_at__lt=now,
            ),
            batch,
        ),
        "network_locks": _delete(NetworkLock.objects.filter(wrong_password_at__lt=quiet_since), batch),
        "unknown_addresses": _delete(UnknownAddress.objects.filter(touched_at__lt=quiet_since), batch),
        "rate_counts": _delete(RateCount.objects.filter(window_starts_at__lt=now - KEPT_COUNTS), batch),
    }


def _delete(past: QuerySet[Any, Any], batch: int) -> int:
    rows: type[Model] = past.model
    ids = list(past.order_by("id").values_list("id", flat=True)[:batch])
    _all, by_model = rows._default_manager.filter(id__in=ids).delete()
    return by_model.get(rows._meta.label, 0)
