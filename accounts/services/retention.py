"""What is deleted, and when: the personal data of an account, two weeks after its user asks for it; expired codes, tokens and
counters, old sessions, and accounts that were never confirmed.

Of an erased account an anonymous row stays, because conversations of other users refer to it and their own messages are
kept. What the erased user wrote is removed: each app that stores it receives `account_erased`.
"""

import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import Q, QuerySet
from django.utils import timezone
from django_otp import devices_for_user

from accounts import emails
from accounts.conf import conf
from accounts.models import (
    Block,
    Code,
    CodeTries,
    EmailChange,
    Image,
    NetworkLock,
    OneTimeToken,
    RateCount,
    RecoveryCode,
    Session,
    TrustedDevice,
    UnknownAddress,
    User,
)
from accounts.services import audit, codes, password, pictures, registration, sessions, step_up
from accounts.signals import account_erased
from core.database import DeletionJobs, delete_in_batches
from core.transactions import again_after_deadlock, before_commit, unit_of_work

REPEATED_FOR = timedelta(days=1)
# Support may ask about a code or an unfinished step for a while after it is over.
KEPT_STEPS = timedelta(days=7)
# The longest window that a rate is counted in is a day.
KEPT_COUNTS = timedelta(days=2)


def schedule_erasure(*, user: User, action_token: OneTimeToken) -> datetime:
    """Erases the account in two weeks and signs it out everywhere; signing in cancels. Returns when."""
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        step_up.consume(action_token)
        user.erase_after = timezone.now() + timedelta(days=conf.DELETE_GRACE_DAYS)
        user.save(update_fields=["erase_after"])
        user.one_time_tokens.end()
        sessions.revoke_all(user_id=user.id, reason="account_deleted")
        emails.send_to(user, "deletion_scheduled", date=f"{user.erase_after:%Y-%m-%d}")
    return user.erase_after


def erase(*, user_id: int) -> bool:
    """Erases all data of a user now. False when the account does not exist or is erased already."""
    return again_after_deadlock(partial(_erase, User.objects.not_erased().filter(id=user_id)))


def _erase(users: QuerySet[User]) -> bool:
    """Erases the one user of a query. False when there is none by now."""
    with unit_of_work():
        user = users.select_for_update(no_key=True).first()
        if user is None:
            return False
        password.end_access(user_id=user.id, reason="account_erased")
        _erase_data(user.id)
        audit.anonymise(user_id=user.id)
        _anonymise(user)
    return True


def erase_due(*, now: datetime, batch: int) -> int:
    """Erases accounts whose two weeks are over. Returns how many.

    Accounts erased within the last day are erased once more: a request that ran while staff erased its account may
    have written data afterwards.
    """
    due = User.objects.not_erased().filter(erase_after__lte=now).order_by("erase_after")
    erased = 0
    for user_id in list(due.values_list("id", flat=True)[:batch]):
        # Signing in at the last moment still cancels the deletion.
        erased += again_after_deadlock(partial(_erase, due.filter(id=user_id)))
    recent = User.objects.filter(erased_at__gt=now - REPEATED_FOR).order_by("id")
    for user_id in list(recent.values_list("id", flat=True)[:batch]):
        again_after_deadlock(partial(_erase_again, user_id))
    return erased


def _erase_again(user_id: int) -> None:
    with unit_of_work():
        User.objects.lock(user_id)
        _erase_data(user_id)


def _erase_data(user_id: int) -> None:
    """Part of the caller's unit of work, which holds the row of the account locked."""
    account_erased.send(User, user_id=user_id)
    # After what the apps have put off to the end. Sessions would take their push devices with them, and others who change
    # a notification lock it before devices and deliveries.
    before_commit(partial(_delete_rows, user_id))


def _delete_rows(user_id: int) -> None:
    pictures.discard(Image.objects.filter(owner_id=user_id).values_list("id", flat=True))
    codes.end_all(user_id=user_id)
    # Sessions last: what a request of the same moment has just written refers to one.
    for model in (OneTimeToken, TrustedDevice, RecoveryCode, EmailChange, NetworkLock, Session):
        model._default_manager.filter(user_id=user_id).delete()
    Block.objects.filter(blocker_id=user_id).delete()
    Block.objects.filter(blocked_id=user_id).delete()
    LogEntry.objects.filter(user_id=user_id).delete()
    for device in devices_for_user(User(id=user_id), confirmed=None):  # of staff
        device.delete()


def _anonymise(user: User) -> None:
    blank = User(
        id=user.id,
        email=f"erased-{user.id}@invalid",
        username=f"deleted_{user.id}_{secrets.token_hex(2)}",
        created_at=user.created_at,
        erased_at=timezone.now(),
    )
    blank.set_unusable_password()
    blank.save(force_update=True)
    blank.groups.clear()
    blank.user_permissions.clear()


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
