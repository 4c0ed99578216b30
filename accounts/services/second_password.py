"""The second password: validation, limits on guesses, enabling, changing and disabling; and the recovery codes: ten printed
strings, each replaces the second password once."""

import re
import secrets
from datetime import datetime, time, timedelta
from difflib import SequenceMatcher

from django.contrib.auth.hashers import check_password, make_password
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import AccountLocked, InvalidTwoStep
from accounts.models import PendingToken, RecoveryCode, Session, User
from accounts.services import one_time_tokens, registration, sessions, step_up, trusted_devices
from accounts.tokens import keyed_digest, keyed_digest_matches
from core.text import fold
from core.transactions import unit_of_work

# A hint this similar to the password reveals it (Django's measure for user attributes).
MAX_SIMILARITY = 0.7

# Crockford's base 32: no letter that could be read as a digit. 16 characters are 80 bits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 16
GROUP = 4
_MISREAD = str.maketrans({"O": "0", "I": "1", "L": "1"})


def enable(*, user: User, action_token: PendingToken, password: str, hint: str | None = None) -> list[str]:
    """Switches two-step verification on. Returns the recovery codes, which are shown only now.

    ValidationError on `password` or `hint`, and when it is on already.
    """
    if user.two_step_enabled:
        raise ValidationError({"password": [_("Two-step verification is already on.")]})
    step_up.count_try(action_token)
    _check_new(user, password, hint or "", field="password")
    password_hash = make_password(password)
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        step_up.consume(action_token)
        if user.two_step_enabled:
            raise ValidationError({"password": [_("Two-step verification is already on.")]})
        _set(user, password_hash, hint or "")
        texts = replace_recovery_codes(user=user)
        emails.send_to(user, "two_step_enabled")
    return texts


def change(
    *,
    user: User,
    session: Session,
    action_token: PendingToken,
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
        step_up.count_try(action_token)
    _check_new(user, new_password, hint or "", field="new_password")
    password_hash = make_password(new_password)
    with unit_of_work():
        user = _locked_unchanged(user)
        step_up.consume(action_token)
        _set(user, password_hash, hint or "")
        Session.objects.filter(user=user).update(second_password_free_until=None)
        emails.send_to(user, "two_step_changed")


def disable(*, user: User, action_token: PendingToken, password: str) -> None:
    """Switches two-step verification off; recovery codes and trusted devices go with it.

    InvalidTwoStep for a wrong second password.
    """
    _require_enabled(user)
    _check_current(user, action_token, password)
    with unit_of_work():
        user = _locked_unchanged(user)
        step_up.consume(action_token)
        _remove(user)


def new_recovery_codes(*, user: User, action_token: PendingToken) -> list[str]:
    """Replaces the recovery codes. Returns ten new ones, shown only now. ValidationError while two-step is off."""
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        _require_enabled(user)
        step_up.consume(action_token)
        texts = replace_recovery_codes(user=user)
        emails.send_to(user, "recovery_codes_replaced")
    return texts


def reset(*, user: User) -> None:
    """Switches two-step off on behalf of support, which has verified the user by other means."""
    with unit_of_work():
        user = User.objects.lock(user.id)
        if user.two_step_enabled:
            _remove(user)


def undo_changes(*, user: User, since: datetime) -> None:
    """Undoes later changes of the second step: removes a second password and recovery codes set since then.

    Part of the caller's unit of work, which holds the row locked.
    """
    changed_at = user.second_password_changed_at
    if user.two_step_enabled and changed_at is not None and changed_at >= since:
        _remove(user)
    else:
        user.recovery_codes.filter(created_at__gte=since).delete()


def count_guess(user: User) -> None:
    """Counts one guess at the second password of an account, before it is compared.

    AccountLocked when the day's guesses are used up, over all sign-ins and sessions.
    """
    now = timezone.now()
    today = now.date()
    own = User.objects.filter(id=user.id)
    own.exclude(wrong_second_passwords_day=today).update(wrong_second_passwords=0, wrong_second_passwords_day=today)
    allowed = own.filter(wrong_second_passwords__lt=conf.WRONG_SECOND_PASSWORDS_A_DAY)
    if allowed.update(wrong_second_passwords=F("wrong_second_passwords") + 1) != 1:
        raise AccountLocked(retry_after=_seconds_to_midnight(now))


def uncount_guess(user: User) -> None:
    """Takes a counted guess back when it was right or nothing was compared."""
    User.objects.filter(id=user.id, wrong_second_passwords__gt=0).update(
        wrong_second_passwords=F("wrong_second_passwords") - 1
    )


def wrong_guesses_today(user: User) -> int:
    """The wrong guesses that count against today's limit."""
    return user.wrong_second_passwords if user.wrong_second_passwords_day == timezone.now().date() else 0


def report_wrong_guess(user: User) -> None:
    """Mails the owner once there are several wrong guesses: the first password is known to another."""
    wrong = User.objects.values_list("wrong_second_passwords", flat=True).get(id=user.id)
    if wrong >= conf.WRONG_SECOND_PASSWORDS_MAILED:
        with unit_of_work():
            emails.send_to(user, "wrong_second_password")


def matches(user: User, password: str) -> bool:
    """Whether this is the second password of an account that has one."""
    return user.two_step_enabled and check_password(password, user.second_password)


def guess(*, user: User, password: str) -> None:
    """Counts and checks a guess. InvalidTwoStep for a wrong one, AccountLocked when the day's guesses are used up."""
    count_guess(user)
    if not matches(user, password):
        report_wrong_guess(user)
        raise InvalidTwoStep
    uncount_guess(user)


def _check_current(user: User, action_token: PendingToken, password: str) -> None:
    step_up.count_try(action_token)
    guess(user=user, password=password)


def _locked_unchanged(user: User) -> User:
    """The user as stored now, locked. InvalidTwoStep if the second password has changed since it was compared: the proof
    is no longer valid."""
    locked = User.objects.lock_active(user.id)
    if locked.second_password != user.second_password:
        raise InvalidTwoStep
    return locked


def _set(user: User, password_hash: str, hint: str) -> None:
    user.second_password = password_hash
    user.second_password_hint = hint
    user.second_password_changed_at = timezone.now()
    user.save(update_fields=["second_password", "second_password_hint", "second_password_changed_at"])
    trusted_devices.remove_all(user_id=user.id)
    sessions.end_grace(user_id=user.id)
    one_time_tokens.end_all(user_id=user.id, kind=PendingToken.Kind.TWO_STEP)


def _remove(user: User) -> None:
    _set(user, "", "")
    user.recovery_codes.all().delete()
    emails.send_to(user, "two_step_disabled")


def _require_enabled(user: User) -> None:
    if not user.two_step_enabled:
        raise ValidationError({"two_step": [_("Two-step verification is off.")]})


def _check_new(user: User, password: str, hint: str, *, field: str) -> None:
    registration.refuse_weak_password(password, user, field=field)
    if user.check_password(password):
        raise ValidationError({field: [_("Choose a password that differs from your first one.")]})
    if hint and _reveals(hint, password):
        raise ValidationError({"hint": [_("This hint reveals the password.")]})


def _reveals(hint: str, password: str) -> bool:
    hint_letters, secret = _letters(hint), _letters(password)
    if not hint_letters or not secret:
        return fold(password) in fold(hint)
    # The same words in another order are the password, too.
    if all(word in hint_letters for word in re.split(r"\W+", fold(password)) if word):
        return True
    return (
        secret in hint_letters
        or secret[::-1] in hint_letters
        or SequenceMatcher(a=hint_letters, b=secret).ratio() >= MAX_SIMILARITY
    )


def _letters(text: str) -> str:
    return "".join(character for character in fold(text) if character.isalnum())


def _seconds_to_midnight(now: datetime) -> int:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return max(1, int((midnight - now).total_seconds()) + 1)


def replace_recovery_codes(*, user: User) -> list[str]:
    """Replaces all codes, inside the caller's unit of work. Returns the new ones, which are shown only now."""
    texts = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(conf.RECOVERY_CODES)]
    now = timezone.now()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=keyed_digest("recovery", str(user.id), text), created_at=now) for text in texts
    )
    return ["-".join(text[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for text in texts]


def find_recovery_code(*, user: User, typed: str) -> RecoveryCode | None:
    """The unused code of this user that equals the input; case, spaces and dashes are ignored."""
    text = "".join(typed.upper().replace("-", "").split()).translate(_MISREAD)
    matching = None
    for code in RecoveryCode.objects.unused().filter(user=user):
        if keyed_digest_matches(code.digest, "recovery", str(user.id), text):
            matching = code
    return matching


def consume_recovery_code(code: RecoveryCode) -> bool:
    """Consumes the code, inside the caller's unit of work. Of many parallel callers one gets True."""
    return RecoveryCode.objects.unused().filter(id=code.id).update(used_at=timezone.now()) == 1
