"""A forgotten password: a code by mail, and everything that the old one opened ends."""

from django.utils import timezone

from accounts import emails
from accounts.exceptions import InvalidOtp
from accounts.models import User
from accounts.services import codes, decoys, devices, locks, pending_tokens, sessions
from accounts.services.registration import RESET, refuse_weak_password
from accounts.signals import account_verified
from accounts.unit_of_work import unit_of_work


def forgot(*, email: str) -> None:
    """Mails a code to the address of an account; nothing for any other, and nobody can tell."""
    user = User.objects.filter(email=email).first()
    if user is None:
        decoys.mail_no_code(email=email)
        return
    with unit_of_work():
        code = codes.issue(user=user, purpose=RESET, address=email)
        emails.send_to(user, "reset_code", code=code)


def reset(*, email: str, code: str, new_password: str) -> None:
    """Sets the password and ends sessions, trusted devices, unfinished steps and codes.

    The mailed code proves the address, so it is confirmed; the second step stays as it is; a wait
    after wrong passwords is over. InvalidOtp, ValidationError (`new_password`).
    """
    user = User.objects.filter(email=email).first()
    if user is None:
        codes.refuse(purpose=RESET, address=email, text=code)
    checked = codes.check(user=user, purpose=RESET, address=email, text=code)
    refuse_weak_password(new_password, user, field="new_password")
    user.set_password(new_password)  # outside of the transaction: hashing takes its time
    password = user.password
    now = timezone.now()
    with unit_of_work():
        user = User.objects.select_for_update(no_key=True).filter(id=user.id, email=email).first()
        if user is None:
            raise InvalidOtp
        codes.consume(checked)
        newly_verified = not user.is_verified
        user.password = password
        user.password_reset_at = now
        user.email_verified_at = user.email_verified_at or now
        user.contested_at = None
        user.save(update_fields=["password", "password_reset_at", "email_verified_at", "contested_at"])
        locks.clear(user)
        codes.end_all(user_id=user.id)
        pending_tokens.end_all(user_id=user.id)
        devices.forget_all(user_id=user.id)
        sessions.revoke_all(user_id=user.id, reason="password_reset")
        emails.send_to(user, "password_changed")
        if newly_verified:
            account_verified.send(User, user=user)
