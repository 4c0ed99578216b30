"""The first password: reset by a mailed code, changed with the old one, or chosen once by a token.

Every session of the old password ends, except the one that changed it."""

from django.contrib.auth.hashers import make_password
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts import emails
from accounts.exceptions import InvalidCredentials, InvalidOtp
from accounts.models import Code, OneTimeToken, Session, TrustedDevice, User
from accounts.services import registration
from accounts.services.registration import refuse_weak_password
from accounts.sign_in import action_tokens, codes, lockout, second_step, sessions
from accounts.signals import account_verified
from core.api.exceptions import NotFound
from core.database.transactions import unit_of_work
from core.request_context import prefer_language


def forgot(*, email: str, network: str) -> None:
    """Mails a code to the address of an account."""
    codes.send_to_address(email=email, network=network, purpose=Code.Purpose.RESET, mail="reset_code")


def reset(*, email: str, code: str, new_password: str, network: str) -> None:
    """Sets the password and ends sessions, trusted devices, unfinished steps and codes.

    The mailed code proves the address, so it is confirmed; the second step stays as it is; a login lockout ends.
    InvalidOtp, ValidationError (`new_password`).
    """
    account = User.objects.filter(email=email).first()
    checked = codes.check(user=account, purpose=Code.Purpose.RESET, address=email, text=code, network=network)
    prefer_language(checked.user.language)
    password_hash = hashed(new_password, checked.user)  # outside of the transaction: hashing takes its time
    with unit_of_work():
        user = User.objects.lock_with_email(checked.user_id, email)
        if user is None:
            raise InvalidOtp
        codes.consume(checked)
        _replace_by_mail(user, password_hash, network=network)


def change(
    *, user: User, session: Session, action_token: OneTimeToken, current_password: str, new_password: str
) -> str:
    """Sets the new password; every other session, trusted device, code and unfinished step ends.

    Returns the session's next token. InvalidCredentials for a wrong old password; ValidationError on
    `new_password` for a weak one, the old one, or the second one.
    """
    action_tokens.count_try(action_token)
    if not user.check_password(current_password):
        raise InvalidCredentials(_("The current password is wrong."))
    refuse_weak_password(new_password, user, field="new_password")
    if new_password == current_password:
        raise ValidationError({"new_password": [_("This is already your password.")]})
    if second_step.matches(user, new_password):
        raise ValidationError({"new_password": [_("Choose a password that differs from your second one.")]})
    password_hash = make_password(new_password)
    with unit_of_work():
        locked = User.objects.lock_active(user.id)
        action_tokens.consume(action_token)
        if locked.password != user.password:
            # Changed or reset since it was compared: the proof is no longer valid.
            raise InvalidCredentials
        replace(locked, password_hash, reason="password_changed", but=session)
        emails.send_to(locked, "password_changed_by_you")
        return sessions.rotate(session)


def user_of_token(*, token: str) -> User:
    """The account of a live token of `email_change.undo`. NotFound."""
    pending = OneTimeToken.objects.of(token, OneTimeToken.Kind.PASSWORD)
    if pending is None or not pending.is_live():
        raise NotFound
    return pending.user


def choose(*, token: str, new_password: str, network: str = codes.NO_NETWORK) -> User:
    """Sets the password by a token of `email_change.undo`, once and without a code; otherwise as `reset`.

    NotFound for a token that is unknown, used or too old, ValidationError (`new_password`).
    """
    pending = OneTimeToken.objects.of(token, OneTimeToken.Kind.PASSWORD)
    if pending is None or not pending.count_try():
        raise NotFound
    password_hash = hashed(new_password, pending.user)
    with unit_of_work():
        user = User.objects.lock(pending.user_id)
        if not pending.consume():
            raise NotFound
        _replace_by_mail(user, password_hash, network=network)
    return user


def replace(user: User, password_hash: str, *, reason: str, but: Session | None = None) -> int:
    """Sets the password of an account that the caller has locked, and ends all access that the old one gave, except the
    session `but`. Returns how many sessions ended."""
    user.password = password_hash
    user.password_changed_at = timezone.now()
    user.save(update_fields=["password", "password_changed_at"])
    return end_access(user_id=user.id, reason=reason, but=but)


def end_access(*, user_id: int, reason: str, but: Session | None = None) -> int:
    """Ends unfinished steps, codes, trusted devices, and all sessions except `but`. Returns how many sessions ended. Part
    of the caller's unit of work, which has locked the account.

    The order is that of a confirmed action, so that the two cannot deadlock.
    """
    OneTimeToken.objects.filter(user_id=user_id).end()
    codes.end_all(user_id=user_id)
    TrustedDevice.objects.filter(user_id=user_id).delete()
    return sessions.revoke_all(user_id=user_id, reason=reason, but=but)


def hashed(new_password: str, user: User) -> str:
    """The hash of a new first password. ValidationError (`new_password`) for a weak one."""
    refuse_weak_password(new_password, user, field="new_password")
    return make_password(new_password)


def _replace_by_mail(user: User, password_hash: str, *, network: str) -> None:
    """Replaces the password for a user who has proved the mailbox, which confirms the address and ends a lockout."""
    newly_verified = not user.has_verified_email
    user.password_reset_at = timezone.now()
    user.password_reset_network = "" if network == codes.NO_NETWORK else network
    user.email_verified_at = user.email_verified_at or user.password_reset_at
    registration.settle_contest(user)
    user.save(update_fields=["password_reset_at", "password_reset_network", "email_verified_at"])
    lockout.clear_all(user)
    replace(user, password_hash, reason="password_reset")
    emails.send_to(user, "password_changed")
    if newly_verified:
        account_verified.send(User, user=user)
