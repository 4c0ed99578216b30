"""Sign-up: the account, the mailed code, and the confirmation of the address."""

from datetime import datetime
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone
from rest_framework import serializers

from accounts import emails
from accounts.exceptions import EmailTaken, InvalidOtp
from accounts.models import Code, Session, User
from accounts.selectors import address_is_taken
from accounts.services import audit, codes, login, sessions
from accounts.signals import account_erased, account_verified, profile_changed
from core import ratelimits
from core.request_context import Client, network_of
from core.text import normalise_address
from core.transactions import unit_of_work


def sign_up(*, email: str, password: str, first_name: str, last_name: str, language: str, network: str) -> User:
    """Creates an unconfirmed account and mails a code to its address; no code beyond the limit of mails to it.

    EmailTaken for every registered address, ValidationError (`password`) for a weak password.
    """
    user = User(email=email, first_name=first_name, last_name=last_name, language=language)
    refuse_weak_password(password, user, field="password")
    try:
        if address_is_taken(email):
            raise EmailTaken
        user.set_password(password)  # outside of the transaction: hashing takes its time
        with unit_of_work():
            User.objects.add(user)
            # Counted here, so that parallel sign-ups that lose against this one use up nothing.
            if codes.may_be_mailed(address=email, asked_for=None, network=network):
                mail_code(user)
    except EmailTaken:
        _report_taken(email)
        raise
    return user


def create_user(*, email: str, password: str | None, verified: bool = False, **fields: Any) -> User:
    """Creates an account without sending a mail, for the demo; `fields` are other columns of the user.

    ValueError for what is no address, EmailTaken, UsernameTaken.
    """
    user = User(email=normalise_address(email), **fields)
    user.set_password(password)
    user.email_verified_at = timezone.now() if verified else None
    with unit_of_work():
        User.objects.add(user)
        if verified:
            account_verified.send(User, user=user)
    return user


def verify_email(*, email: str, code: str, client: Client) -> tuple[User, str]:
    """Confirms the address by its code and signs in. Returns the user and a session token.

    InvalidOtp for a wrong or expired code and for an unknown address, AccountBlocked.
    """
    user = User.objects.filter(email=email).first()
    checked = codes.check(
        user=user, purpose=Code.Purpose.SIGNUP, address=email, text=code, network=network_of(client.ip)
    )
    with unit_of_work():
        user = User.objects.lock_with_email(checked.user_id, email)
        if user is None or user.has_verified_email:
            raise InvalidOtp
        user.refuse_if_blocked(timezone.now())
        codes.consume(checked)
        confirm(user)
        token = login.complete(user=user, client=client, announce=False)
    return user, token


def confirm(user: User) -> None:
    """Marks an unconfirmed address as confirmed. Runs in the caller's unit of work, with the row locked.

    If the address was used for several sign-ups, the password may not be the owner's: it stops working, its sessions
    end, and the owner is asked to choose a new one.
    """
    user.email_verified_at = timezone.now()
    changed = ["email_verified_at"]
    if user.contested_at is not None:
        user.contested_at = None
        user.set_unusable_password()
        changed += ["contested_at", "password"]
        sessions.revoke_all(user_id=user.id, reason="contested")
        user.one_time_tokens.end()
        codes.send(user=user, purpose=Code.Purpose.RESET, mail="choose_password")
    user.save(update_fields=changed)
    account_verified.send(User, user=user)
    if Session.objects.not_ended().filter(user=user).exists():
        # Signed in before: its devices learn that the address is confirmed.
        profile_changed.send(User, user_id=user.id)


def resend(*, email: str, network: str) -> None:
    """Mails a new code to the address of an unconfirmed account that is not blocked."""
    codes.send_to_address(
        email=email,
        network=network,
        purpose=Code.Purpose.SIGNUP,
        mail="signup_code",
        is_wanted=lambda user: not user.has_verified_email and not user.is_blocked(timezone.now()),
    )


def mail_code(user: User) -> None:
    """Mails a new code to an unconfirmed account, inside the caller's unit of work."""
    codes.send(user=user, purpose=Code.Purpose.SIGNUP, mail="signup_code")


def purge_unconfirmed(*, created_before: datetime, batch: int) -> int:
    """Removes accounts that were never confirmed. Returns how many."""
    stale = User.objects.unverified().not_erased().filter(is_staff=False, created_at__lt=created_before)
    ids = list(stale.order_by("created_at").values_list("id", flat=True)[:batch])
    removed = 0
    for user_id in ids:
        unconfirmed = User.objects.unverified().filter(id=user_id)
        with unit_of_work():
            if unconfirmed.select_for_update(skip_locked=True, no_key=True).first() is None:
                continue  # confirmed in the meantime, or locked by another purge
            codes.end_all(user_id=user_id)  # from here on its address cannot be confirmed
            account_erased.send(User, user_id=user_id)
        with unit_of_work():  # after what listeners still write at the end of their transaction
            user = unconfirmed.select_for_update().first()
            if user is not None:
                codes.end_all(user_id=user_id)  # sent again in between; a guess of the same moment adds tries to them
                audit.anonymise(user_id=user_id)
                removed += bool(user.delete()[0])
    return removed


def refuse_weak_password(password: str, user: User, *, field: str) -> None:
    """ValidationError on `field` for a short or common password, or one similar to the user's names."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise serializers.ValidationError({field: error.messages}) from error


def _report_taken(email: str) -> None:
    """After a sign-up with a registered address: marks an unconfirmed account as contested, and notifies the owner of a
    confirmed one, a few times an hour at most."""
    User.objects.unverified().filter(email=email).update(contested_at=timezone.now())
    if ratelimits.allows("notice_mails", email):
        user = User.objects.verified().filter(email=email).first()
        if user is not None:
            with unit_of_work():
                emails.send_to(user, "already_registered")
