"""Password reset: a mailed code, then every session of the old password ends."""

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import InvalidOtp
from accounts.models import PendingToken, User
from accounts.services import code_mails, codes, fake_timing, login_lockout, one_time_tokens, sessions, trusted_devices
from accounts.services.registration import RESET, refuse_weak_password
from accounts.signals import account_verified
from core.exceptions import NotFound
from core.transactions import unit_of_work


def forgot(*, email: str, network: str) -> None:
    """Mails a code to the address of an account; nothing to any other address or beyond the limit of mails.

    The answer is the same for all.
    """
    user = User.objects.filter(email=email).first()
    if not code_mails.may_be_sent(address=email, asked_for=user, network=network):
        return
    if user is None:
        fake_timing.simulate_code_mail(email=email)
        return
    with unit_of_work():
        code = codes.issue(user=user, purpose=RESET, address=email)
        emails.send_to(user, "reset_code", code=code)


def reset(*, email: str, code: str, new_password: str, network: str) -> None:
    """Sets the password and ends sessions, trusted devices, unfinished steps and codes.

    The mailed code proves the address, so it is confirmed; the second step stays as it is; a login lockout ends.
    InvalidOtp, ValidationError (`new_password`).
    """
    user = User.objects.filter(email=email).first()
    if user is None:
        codes.refuse(purpose=RESET, address=email, text=code)
    checked = codes.check(user=user, purpose=RESET, address=email, text=code, network=network)
    encoded = _encoded(new_password, user)  # outside of the transaction: hashing takes its time
    with unit_of_work():
        user = User.objects.select_for_update(no_key=True).filter(id=user.id, email=email).first()
        if user is None:
            raise InvalidOtp
        codes.consume(checked)
        _set(user, encoded)


def may_choose(*, user: User) -> str:
    """A token that lets its bearer choose a new first password once, without a code."""
    return one_time_tokens.issue(kind=PendingToken.Kind.PASSWORD, user=user, minutes=conf.CHOOSE_PASSWORD_MINUTES)


def may_be_chosen_by(*, token: str) -> User:
    """The account of a live token of `may_choose`. NotFound."""
    pending = one_time_tokens.find(token, kind=PendingToken.Kind.PASSWORD)
    if pending is None or not one_time_tokens.is_live(pending, tries=conf.CHOOSE_PASSWORD_TRIES):
        raise NotFound
    return pending.user


def choose(*, token: str, new_password: str) -> User:
    """Sets the password by a token of `may_choose`; otherwise as `reset`.

    NotFound for a token that is unknown, used or too old, ValidationError (`new_password`).
    """
    pending = one_time_tokens.find(token, kind=PendingToken.Kind.PASSWORD)
    if pending is None or not one_time_tokens.count_try(pending, tries=conf.CHOOSE_PASSWORD_TRIES):
        raise NotFound
    encoded = _encoded(new_password, pending.user)
    with unit_of_work():
        user = User.objects.select_for_update(no_key=True).get(id=pending.user_id)
        if not one_time_tokens.consume(pending):
            raise NotFound
        _set(user, encoded)
    return user


def _encoded(new_password: str, user: User) -> str:
    refuse_weak_password(new_password, user, field="new_password")
    return make_password(new_password)


def _set(user: User, encoded: str) -> None:
    """Sets a password proved by mail and ends what the old one opened. The caller has locked the row."""
    now = timezone.now()
    newly_verified = not user.is_verified
    user.password = encoded
    user.password_changed_at = user.password_reset_at = now
    user.email_verified_at = user.email_verified_at or now
    user.contested_at = None
    changed = ["password", "password_changed_at", "password_reset_at", "email_verified_at", "contested_at"]
    user.save(update_fields=changed)
    login_lockout.clear_all(user)
    codes.end_all(user_id=user.id)
    one_time_tokens.end_all(user_id=user.id)
    trusted_devices.forget_all(user_id=user.id)
    sessions.revoke_all(user_id=user.id, reason="password_reset")
    emails.send_to(user, "password_changed")
    if newly_verified:
        account_verified.send(User, user=user)
