"""Changes of the account status by staff. Each adds an audit row and takes effect at once on live tokens."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from accounts.exceptions import UserNotFound
from accounts.models import Session, TrustedDevice, User
from accounts.services import audit, erasure, password, registration
from accounts.sign_in import lockout, second_password, sessions, trusted_devices
from accounts.signals import account_status_changed
from core.database.transactions import again_after_deadlock, unit_of_work
from core.times import json_time

# A staff member, or the name of an operator without an account ("cli:root").
Actor = User | str


def block(*, user: User, actor: Actor, reason: str, until: datetime | None = None) -> int:
    """Blocks an account, for good or `until`. Returns how many sign-ins ended."""
    with _locked_for_change(user, actor) as account:
        account.blocked_at = timezone.now()
        account.blocked_until = until
        account.blocked_reason = reason[:500]
        account.save(update_fields=["blocked_at", "blocked_until", "blocked_reason"])
        account.one_time_tokens.end()
        account.trusted_devices.all().delete()
        ended = sessions.revoke_all(user_id=account.id, reason="blocked")
        account_status_changed.send(User, user_id=account.id, is_blocked=True)
        audit.record(
            action="user.blocked",
            actor=actor,
            target=account,
            reason=reason,
            until=json_time(until) if until else None,
            sessions_ended=ended,
        )
    return ended


def unblock(*, user: User, actor: Actor, reason: str = "") -> None:
    """Lets a blocked account sign in again; its ended sessions stay ended."""
    with _locked_for_change(user, actor) as account:
        was_blocked = account.blocked_at is not None
        account.blocked_at = account.blocked_until = None
        account.blocked_reason = ""
        account.save(update_fields=["blocked_at", "blocked_until", "blocked_reason"])
        if was_blocked:
            account_status_changed.send(User, user_id=account.id, is_blocked=False)
        audit.record(action="user.unblocked", actor=actor, target=account, reason=reason)


def unlock(*, user: User, actor: Actor, reason: str = "") -> None:
    """Clears wrong passwords and wrong second passwords."""
    with _locked_for_change(user, actor) as account:
        lockout.clear_all(account)
        account.wrong_second_passwords = 0
        account.save(update_fields=["wrong_second_passwords"])
        audit.record(action="user.unlocked", actor=actor, target=account, reason=reason)


def mark_verified(*, user: User, actor: Actor, reason: str) -> None:
    """Confirms an address without a code; does nothing when it is confirmed already."""
    with unit_of_work():
        account = _locked(user, actor)
        if account.has_verified_email:
            return
        registration.confirm(account)
        audit.record(action="user.verified", actor=actor, target=account, reason=reason)
        user.refresh_from_db()


def sign_out_everywhere(*, user: User, actor: Actor, reason: str = "") -> None:
    """Ends every sign-in and every trusted device."""
    with _locked_for_change(user, actor) as account:
        account.trusted_devices.all().delete()
        ended = sessions.revoke_all(user_id=account.id, reason="staff")
        audit.record(action="user.signed_out", actor=actor, target=account, reason=reason, sessions_ended=ended)


def set_password(*, user: User, actor: Actor, new_password: str, reason: str) -> None:
    """Sets the first password, and ends all access that the old one gave. UserNotFound, ValidationError (`new_password`)."""
    password_hash = password.hashed(new_password, user)  # outside of the transaction: hashing takes its time
    with _locked_for_change(user, actor) as account:
        ended = password.replace(account, password_hash, reason="staff")
        audit.record(action="user.signed_out", actor=actor, target=account, reason=reason, sessions_ended=ended)


def end_session(*, session: Session, reason: str, actor: User) -> None:
    """Ends one sign-in. NotFound when it has ended already."""
    with _locked_for_change(session.user, actor) as account:
        sessions.end(user=account, session_id=session.id, reason="staff")
        audit.record(action="session.ended", actor=actor, target=account, reason=reason, session_id=session.id)


def remove_device(*, device: TrustedDevice, reason: str, actor: User) -> None:
    """Ends the trust in one device and its sign-ins. NotFound when it is not trusted any more."""
    with _locked_for_change(device.user, actor) as account:
        trusted_devices.remove_device(user=account, device_id=device.id)
        name = device.device_name
        audit.record(action="trusted_device.removed", actor=actor, target=account, reason=reason, device=name)


def reset_two_step(*, user: User, actor: Actor, reason: str = "") -> None:
    """Switches two-step off for a user who lost the second password; the user is notified by mail."""
    with _locked_for_change(user, actor) as account:
        if account.two_step_enabled:
            second_password.remove(account)
        audit.record(action="user.two_step_reset", actor=actor, target=account, reason=reason)


def send_code_again(*, user: User, actor: User) -> bool:
    """Mails a new confirmation code to a user. False when the address is confirmed by now."""
    with unit_of_work():
        account = _locked(user)  # no status changes, so staff may do it for each other
        if account.has_verified_email:
            return False
        registration.mail_code(account)
        audit.record(action="user.code_sent", actor=actor, target=account)
    return True


def record_export(*, user: User, actor: Actor, reason: str) -> None:
    """Adds the audit row of an export. Staff may export the data of each other."""
    with unit_of_work():
        audit.record(action="user.exported", actor=actor, target=_existing(user), reason=reason)


def erase(*, user: User, actor: Actor, reason: str = "") -> None:
    """Erases an account now. The audit row names it by its id alone."""

    def work() -> None:
        with unit_of_work():
            erasure.erase(user_id=_locked(user, actor).id)
            audit.record(action="user.erased", actor=actor, target_label=f"user {user.id}", reason=reason)

    again_after_deadlock(work)


def may_change_rights(*, user: User, actor: User) -> bool:
    """Whether `actor` may change the staff flag and the groups of `user`. A superuser may, except for their own account,
    so that another one can always undo a mistake."""
    return actor.is_superuser and actor.id != user.id and user.erased_at is None


@contextmanager
def _locked_for_change(user: User, actor: Actor) -> Iterator[User]:
    """The current row, locked in a unit of work in which the caller changes it and adds the audit row; then `user` is read
    again."""
    with unit_of_work():
        yield _locked(user, actor)
        user.refresh_from_db()


def _locked(user: User, actor: Actor | None = None) -> User:
    """The account as stored now, locked until the end of the transaction.

    UserNotFound if it was removed in the meantime; PermissionDenied if there is a refusal.
    """
    account = _existing(user)
    if (refusal := refusal_of(account, actor)) is not None:
        raise PermissionDenied(refusal)
    return account


def _existing(user: User) -> User:
    try:
        return User.objects.lock(user.id)
    except User.DoesNotExist as error:
        raise UserNotFound(_("This account no longer exists.")) from error


def refusal_of(account: User, actor: Actor | None) -> str | None:
    """Why this actor may not change the status of an account; None when they may.

    An erased account has no status to change. Staff cannot lock themselves out, and a support agent cannot lock out
    other staff.
    """
    if account.erased_at is not None:
        return _("This account has already been erased.")
    if not isinstance(actor, User):
        return None
    if actor.id == account.id:
        return _("This is your own account: another administrator has to do it.")
    if account.is_staff and not actor.is_superuser:
        return _("Only a superuser changes the account of a staff member.")
    return None
