"""The second password as a setting: validation, enabling, changing and disabling."""

import re
from datetime import datetime
from difflib import SequenceMatcher

from django.contrib.auth.hashers import make_password
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts import emails
from accounts.exceptions import InvalidTwoStep
from accounts.models import OneTimeToken, Session, User
from accounts.services import registration
from accounts.sign_in import action_tokens, recovery_codes, second_step, sessions
from core.database.transactions import unit_of_work
from core.folding import fold

# A hint this similar to the password reveals it (Django's measure for user attributes).
MAX_SIMILARITY = 0.7


def enable(*, user: User, action_token: OneTimeToken, password: str, hint: str | None = None) -> list[str]:
    """Switches two-step verification on. Returns the recovery codes, which are shown only now.

    ValidationError on `password` or `hint`, and when it is on already.
    """
    if user.two_step_enabled:
        raise ValidationError({"password": [_("Two-step verification is already on.")]})
    check_strength(user, password, hint or "", field="password")
    action_tokens.count_try(action_token)
    check_differs_from_first(user, password, field="password")
    password_hash = make_password(password)
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        action_tokens.consume(action_token)
        if user.two_step_enabled:
            raise ValidationError({"password": [_("Two-step verification is already on.")]})
        now = _set(user, password_hash, hint or "")
        texts = recovery_codes.replace_recovery_codes(user=user, now=now)
        emails.send_to(user, "two_step_enabled")
    return texts


def change(
    *,
    user: User,
    session: Session,
    action_token: OneTimeToken,
    new_password: str,
    password: str | None = None,
    hint: str | None = None,
) -> None:
    """A new second password; without a `hint` there is none afterwards.

    InvalidTwoStep for a wrong old one, which a session that has just used a recovery code need not
    know. ValidationError on `password`, `new_password` or `hint`. Ends the trust in all devices.
    """
    _require_enabled(user)
    free_until = session.second_password_free_until
    if free_until is None or free_until <= timezone.now():
        if password is None:
            raise ValidationError({"password": [_("This field is required.")]})
        _check_current(user, action_token, password)
    else:
        action_tokens.count_try(action_token)
    check_strength(user, new_password, hint or "", field="new_password")
    check_differs_from_first(user, new_password, field="new_password")
    password_hash = make_password(new_password)
    with unit_of_work():
        user = _locked_unchanged(user)
        action_tokens.consume(action_token)
        _set(user, password_hash, hint or "")
        Session.objects.filter(user=user).update(second_password_free_until=None)
        emails.send_to(user, "two_step_changed")


def disable(*, user: User, action_token: OneTimeToken, password: str) -> None:
    """Switches two-step verification off; recovery codes and trusted devices go with it.

    InvalidTwoStep for a wrong second password.
    """
    _require_enabled(user)
    _check_current(user, action_token, password)
    with unit_of_work():
        user = _locked_unchanged(user)
        action_tokens.consume(action_token)
        remove(user)


def new_recovery_codes(*, user: User, action_token: OneTimeToken) -> list[str]:
    """Replaces the recovery codes. Returns ten new ones, shown only now. ValidationError while two-step is off."""
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        _require_enabled(user)
        action_tokens.consume(action_token)
        texts = recovery_codes.replace_recovery_codes(user=user, now=timezone.now())
        emails.send_to(user, "recovery_codes_replaced")
    return texts


def undo_changes(*, user: User, since: datetime) -> None:
    """Undoes later changes of the second step: removes a second password and recovery codes set since then.

    Part of the caller's unit of work, which holds the row locked.
    """
    changed_at = user.second_password_changed_at
    if user.two_step_enabled and changed_at is not None and changed_at >= since:
        remove(user)
    else:
        user.recovery_codes.filter(created_at__gte=since).delete()


def _check_current(user: User, action_token: OneTimeToken, password: str) -> None:
    action_tokens.count_try(action_token)
    second_step.guess(user=user, password=password)


def _locked_unchanged(user: User) -> User:
    """The user as stored now, locked. InvalidTwoStep if the second password has changed since it was compared: the proof
    is no longer valid."""
    locked = User.objects.lock_active(user.id)
    if locked.second_password != user.second_password:
        raise InvalidTwoStep
    return locked


def _set(user: User, password_hash: str, hint: str) -> datetime:
    """Returns the time of the change."""
    now = timezone.now()
    user.second_password = password_hash
    user.second_password_hint = hint
    user.second_password_changed_at = now
    user.save(update_fields=["second_password", "second_password_hint", "second_password_changed_at"])
    user.trusted_devices.all().delete()
    sessions.end_grace(user_id=user.id)
    user.one_time_tokens.filter(kind=OneTimeToken.Kind.TWO_STEP).end()
    return now


def remove(user: User) -> None:
    """Switches two-step verification off, inside the caller's unit of work, which holds the row locked."""
    _set(user, "", "")
    user.recovery_codes.all().delete()
    emails.send_to(user, "two_step_disabled")


def _require_enabled(user: User) -> None:
    if not user.two_step_enabled:
        raise ValidationError({"two_step": [_("Two-step verification is off.")]})


def check_strength(user: User, password: str, hint: str, *, field: str) -> None:
    """ValidationError for a weak password, or a hint that reveals it. It is not a try: no stored password is compared."""
    registration.refuse_weak_password(password, user, field=field)
    if hint and _reveals(hint, password):
        raise ValidationError({"hint": [_("This hint reveals the password.")]})


def check_differs_from_first(user: User, password: str, *, field: str) -> None:
    if user.check_password(password):
        raise ValidationError({field: [_("Choose a password that differs from your first one.")]})


def _reveals(hint: str, password: str) -> bool:
    hint_letters, secret = _letters(hint), _letters(password)
    if not hint_letters or not secret:
        return fold(password) in fold(hint)
    # The same words in another order reveal the password, too.
    if all(word in hint_letters for word in re.split(r"\W+", fold(password)) if word):
        return True
    return (
        secret in hint_letters
        or secret[::-1] in hint_letters
        or SequenceMatcher(a=hint_letters, b=secret).ratio() >= MAX_SIMILARITY
    )


def _letters(text: str) -> str:
    return "".join(character for character in fold(text) if character.isalnum())
