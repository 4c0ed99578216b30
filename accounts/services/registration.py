"""Sign-up: the account, the mailed code, and the confirmation of the address."""

from datetime import datetime
from typing import Any

from django.contrib.auth.hashers import check_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers

from accounts import emails
from accounts.client import Client
from accounts.exceptions import EmailTaken, InvalidOtp
from accounts.models import Code, Session, User
from accounts.models.sign_ins import NO_USER
from accounts.selectors import address_is_taken
from accounts.services import audit, profile
from accounts.sign_in import codes, sessions, stages
from accounts.signals import account_created, account_erased, account_verified, profile_changed
from core.addresses import normalise_address
from core.api import ratelimits
from core.database.transactions import unit_of_work
from core.network import network_of


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
            account_created.send(User, user=user)
            # Counted here, so that parallel sign-ups that lose against this one use up nothing.
            if codes.may_be_mailed(address=email, asked_for=None, network=network):
                mail_code(user)
    except EmailTaken:
        _report_taken(user, password)
        raise
    return user


def create_user(*, email: str, password: str | None, verified: bool = False, **fields: Any) -> User:
    """Creates an account without sending a mail, for the demo; `fields` are other columns of the user.

    ValueError for an invalid address, EmailTaken, UsernameTaken.
    """
    user = User(email=normalise_address(email), **fields)
    user.set_password(password)
    user.email_verified_at = timezone.now() if verified else None
    with unit_of_work():
        User.objects.add(user)
        account_created.send(User, user=user)
        if verified:
            account_verified.send(User, user=user)
    return user


def verify_email(*, email: str, code: str, client: Client, bearer: str = "") -> tuple[User, str]:
    """Confirms the address by its code and signs in. Returns the user and a session token.

    Earlier sessions end, because someone else may have registered the address. The session of the token `bearer` stays if
    it belongs to this account. InvalidOtp for a wrong or expired code and for an unknown
    address, AccountBlocked.
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
        if user.contested_at is None:
            own = sessions.of_user(bearer, user)
            sessions.revoke_all(user_id=user.id, reason="confirmed", but=own)
        confirm(user)
        token = stages.complete(user=user, client=client, announce=False)
    return user, token


def confirm(user: User) -> None:
    """Marks an unconfirmed address as confirmed. Runs in the caller's unit of work, with the row locked.

    After several sign-ups with the address the password may not be the owner's. It stops working, its sessions end, and
    the owner is asked to choose a new one.
    """
    user.email_verified_at = timezone.now()
    changed = ["email_verified_at"]
    if settle_contest(user):
        user.set_unusable_password()
        changed += ["password"]
        sessions.revoke_all(user_id=user.id, reason="contested")
        user.one_time_tokens.end()
        codes.send(user=user, purpose=Code.Purpose.RESET, mail="choose_password")
    user.save(update_fields=changed)
    account_verified.send(User, user=user)
    if Session.objects.not_ended().filter(user=user).exists():
        # Signed in before: its devices learn that the address is confirmed.
        profile_changed.send(User, user_id=user.id)


def settle_contest(user: User) -> bool:
    """Resets an account after several sign-ups with its address, and takes the names and the language of the latest one.
    False when there was only one. Part of the caller's unit of work, which has proved the address and locked the
    account."""
    if user.contested_at is None:
        return False
    user.contested_at = None
    user.save(update_fields=["contested_at"])
    profile.start_over(
        user,
        first_name=user.contested_first_name or user.first_name,
        last_name=user.contested_last_name,
        language=user.contested_language or user.language,
    )
    return True


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
        removed += _delete_unconfirmed(unconfirmed)
    return removed


def give_up_address(email: str) -> int | None:
    """Takes the address from an account that has not confirmed it, for one that has proved it. Returns the id of the
    account, to be removed by `remove_unconfirmed` after the caller's unit of work; None when there is none.

    After the commit the account can neither be confirmed nor opened.
    """
    unconfirmed = User.objects.unverified().not_erased().filter(email=email, is_staff=False)
    user = unconfirmed.select_for_update(no_key=True).first()
    if user is None:
        return None
    codes.end_all(user_id=user.id)
    user.one_time_tokens.end()
    sessions.revoke_all(user_id=user.id, reason="contested")
    user.email = f"unconfirmed-{user.id}@invalid"
    user.set_unusable_password()
    user.save(update_fields=["email", "password"])
    account_erased.send(User, user_id=user.id)
    return user.id


def remove_unconfirmed(user_id: int) -> None:
    """Removes an account after `give_up_address`. The purge does it if this process ends before."""
    _delete_unconfirmed(User.objects.unverified().filter(id=user_id))


def _delete_unconfirmed(one: QuerySet[User]) -> int:
    """Deletes an unconfirmed account, after the callbacks that listeners run at the end of their transaction."""
    with unit_of_work():
        user = one.select_for_update().first()
        if user is None:
            return 0
        codes.end_all(user_id=user.id)  # a code may have been sent again; a concurrent guess adds tries to it
        audit.anonymise(user_id=user.id)
        return int(bool(user.delete()[0]))


def refuse_weak_password(password: str, user: User, *, field: str) -> None:
    """ValidationError on `field` for a short or common password, or one similar to the user's names."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise serializers.ValidationError({field: error.messages}) from error


def _report_taken(attempt: User, password: str) -> None:
    """After a sign-up with a registered address: marks an unconfirmed account as contested, and notifies the owner of a
    confirmed one, a few times an hour at most.

    A sign-up with the password of the account is a repeat by the same person, for example after a lost reply, and does
    not contest it. Every registered address costs one hash and the same statements.
    """
    user = User.objects.filter(email=attempt.email).first()
    is_repeat = check_password(password, user.password if user is not None else "")
    contested = User.objects.unverified().filter(id=NO_USER if user is None or is_repeat else user.id)
    contested.update(
        contested_at=timezone.now(),
        contested_first_name=attempt.first_name,
        contested_last_name=attempt.last_name,
        contested_language=attempt.language,
    )
    if ratelimits.allows("notice_mails", attempt.email) and user is not None and user.has_verified_email:
        with unit_of_work():
            emails.send_to(user, "already_registered")
