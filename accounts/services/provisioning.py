"""Lets the team's own server create and change accounts and open sessions. The server vouches for its users, so it needs
neither their password nor their mailbox.

Accounts of staff do not exist here. Blocking, signing out and erasing are in `account_status`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.client import Client
from accounts.exceptions import DeletionScheduled, EmailTaken, ExternalIdTaken, UserNotFound
from accounts.hashers import can_be_imported
from accounts.models import User
from accounts.selectors import address_is_taken, has_address
from accounts.services import audit, email_change, profile, registration
from accounts.sign_in import stages
from accounts.signals import account_created, account_verified
from core.database.transactions import unit_of_work


def find(*, email: str | None = None, external_id: str | None = None, username: str | None = None) -> QuerySet[User]:
    """The accounts with all of these, by id; address and username without regard to case."""
    users = User.objects.managed().order_by("id")
    if not all(value is None or value.isprintable() for value in (email, external_id, username)):
        return users.none()  # PostgreSQL refuses a NUL in a text
    if email is not None:
        users = users.filter(has_address(email))
    if external_id is not None:
        users = users.filter(external_id=external_id)
    if username is not None:
        users = users.filter(username__iexact=username)
    return users


def get(user_id: int | None) -> User:
    """UserNotFound for an unknown or erased account, and for one of staff."""
    user = User.objects.managed().filter(id=user_id).first()
    if user is None:
        raise UserNotFound
    return user


def create(
    *,
    email: str,
    first_name: str,
    last_name: str = "",
    language: str,
    external_id: str | None = None,
    is_verified: bool = True,
    password: str | None = None,
    password_hash: str | None = None,
    actor: str | None = None,
) -> tuple[User, bool]:
    """The account, and whether it is new: a repeat with the same address and external id returns the existing one.

    Without a password the account has none, and a reset by mail sets one. A code is mailed unless `is_verified`. With an
    `actor` the audit log names it.
    EmailTaken, ExternalIdTaken, ValidationError (password, password_hash).
    """
    if (existing := _same(email, external_id)) is not None:
        return existing, False
    user = User(email=email, first_name=first_name, last_name=last_name, language=language, external_id=external_id)
    # Outside of the transaction: hashing takes its time.
    user.password = _stored_password(user, password, password_hash)
    user.email_verified_at = timezone.now() if is_verified else None
    try:
        with unit_of_work():
            if address_is_taken(email):
                raise EmailTaken
            User.objects.add(user)
            account_created.send(User, user=user)
            if is_verified:
                account_verified.send(User, user=user)
            else:
                registration.mail_code(user)
            if actor is not None:
                audit.record(action="user.added", actor=actor, target=user)
    except (EmailTaken, ExternalIdTaken):
        # The same request may have been made twice at once.
        if (existing := _same(email, external_id)) is not None:
            return existing, False
        raise
    return user, True


def change(*, user: User, changes: Mapping[str, Any], actor: str) -> User:
    """Changes some of first_name, last_name, bio, language, external_id and email (already cleaned).

    A new address counts as confirmed, and the old one is told. UserNotFound, EmailTaken, ExternalIdTaken.
    """
    displaced_id = None
    with unit_of_work():
        user = _locked(user)
        changed = {name: value for name, value in changes.items() if getattr(user, name) != value}
        if not changed:
            return user
        email = changed.pop("email", None)
        if changed:
            profile.store(user=user, changed=changed, taken=ExternalIdTaken)
        if email is not None:
            displaced_id = email_change.set_confirmed(user, email)
        names = sorted([*changed, *(["email"] if email is not None else [])])
        audit.record(action="user.changed", actor=actor, target=user, changed=names)
    if displaced_id is not None:
        registration.remove_unconfirmed(displaced_id)
    return user


def open_session(*, user: User, device_name: str, key_name: str, key_prefix: str, actor: str) -> tuple[User, str]:
    """Signs a user in on the word of the server. Returns the user and a session token.

    The network does not become known, because the request comes from the server. No mail announces the sign-in.
    UserNotFound, AccountBlocked, DeletionScheduled: signing in would cancel the deletion that the user asked for.
    """
    with unit_of_work():
        user = _locked(user)
        user.refuse_if_blocked(timezone.now())
        if user.erase_after is not None:
            raise DeletionScheduled
        client = Client(device_name=device_name)
        token = stages.complete(user=user, client=client, announce=False, opened_by=key_name, opened_by_key=key_prefix)
        audit.record(action="session.opened", actor=actor, target=user)
    return user, token


def known_among(*, external_ids: Sequence[str], emails: Sequence[str]) -> set[tuple[str] | str]:
    """Which of these external ids (each in a tuple) and addresses belong to an account already. Two queries."""
    by_id = User.objects.filter(external_id__in=external_ids).values_list("external_id")
    return {*by_id, *User.objects.filter(email__in=emails).values_list("email", flat=True)}


def _locked(user: User) -> User:
    """The row as stored now, locked until the transaction ends. UserNotFound if it was erased or became staff."""
    locked = User.objects.managed().select_for_update(no_key=True).filter(id=user.id).first()
    if locked is None:
        raise UserNotFound
    return locked


def _same(email: str, external_id: str | None) -> User | None:
    """The account that an equal request has created."""
    if external_id is None:
        return None
    return User.objects.managed().filter(email=email, external_id=external_id).first()


def _stored_password(user: User, password: str | None, password_hash: str | None) -> str:
    if password_hash is not None:
        if password is not None:
            raise ValidationError({"password_hash": [_("Use either a password or its hash.")]})
        if not can_be_imported(password_hash):
            raise ValidationError({"password_hash": [_("This is not a hash of a known format, or it costs too much.")]})
        return password_hash
    if password is not None:
        registration.refuse_weak_password(password, user, field="password")
    return make_password(password)
