"""Erases the personal data of an account, two weeks after its user asks for it.

An anonymous user stays, because conversations of other users refer to it and their own messages are kept. Each app
receives `account_erased` and removes the texts and files of the erased user that it stores.
"""

import secrets
from datetime import datetime, timedelta
from functools import partial

from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.utils import timezone
from django_otp import devices_for_user

from accounts import emails
from accounts.conf import conf
from accounts.images import pictures
from accounts.models import (
    Block,
    EmailChange,
    Image,
    NetworkLock,
    OneTimeToken,
    RecoveryCode,
    Session,
    StorageUse,
    TrustedDevice,
    User,
)
from accounts.services import audit, password
from accounts.sign_in import action_tokens, codes, sessions
from accounts.signals import account_deletion_scheduled, account_erased
from core.database.transactions import again_after_deadlock, before_commit, unit_of_work

ERASED_AGAIN_FOR = timedelta(days=1)


def schedule_erasure(*, user: User, action_token: OneTimeToken) -> datetime:
    """Erases the account in two weeks and signs it out everywhere; signing in cancels. Returns when."""
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        action_tokens.consume(action_token)
        user.erase_after = timezone.now() + timedelta(days=conf.DELETE_GRACE_DAYS)
        user.save(update_fields=["erase_after"])
        account_deletion_scheduled.send(User, user_id=user.id, erase_after=user.erase_after)
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
    recent = User.objects.filter(erased_at__gt=now - ERASED_AGAIN_FOR).order_by("id")
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
    # After the callbacks of the apps. Deleting sessions also deletes their push devices, and other code locks a
    # notification before devices and deliveries.
    before_commit(partial(_delete_rows, user_id))


def _delete_rows(user_id: int) -> None:
    pictures.discard(Image.objects.filter(owner_id=user_id).values_list("id", flat=True))
    codes.end_all(user_id=user_id)
    # Sessions last: a concurrent request may just have written rows that refer to one.
    for model in (OneTimeToken, TrustedDevice, RecoveryCode, EmailChange, NetworkLock, StorageUse, Session):
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
