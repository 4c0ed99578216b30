"""One-time codes: mailed once, good for one purpose and one address.

A try is counted and committed before anything is compared, so no error, rollback or race gives a
sixth guess. Using a code up is a conditional update, so of many parallel uses one wins. Many failed
codes on one account make its next codes longer; nobody is locked out by them.
"""

import secrets
from datetime import timedelta
from typing import NoReturn

from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from accounts.conf import conf
from accounts.exceptions import InvalidOtp
from accounts.models import Code, User
from accounts.services import locks
from accounts.tokens import keyed_digest, keyed_digest_matches

DIGITS = 6
# Failed codes of an account on one day, and the digits of its codes from then on.
LONGER_AFTER = ((100, 10), (20, 8))
# No row has this id: for an address without account the statements are the same and find nothing.
_NOBODY = 0


def issue(*, user: User, purpose: str, address: str, digits: int = DIGITS) -> str:
    """A new code of at least `digits` digits; the one before it for the same purpose is dead."""
    length = max(digits, _digits_for(user))
    text = "".join(secrets.choice("0123456789") for _ in range(length))
    now = timezone.now()
    code = Code(
        user=user,
        purpose=purpose,
        address=address,
        digest=keyed_digest("code", *_bound_to(user.id, purpose, address), text),
        created_at=now,
        expires_at=now + timedelta(minutes=conf.CODE_MINUTES),
    )
    replaced = ["address", "digest", "tries", "created_at", "expires_at", "used_at"]
    Code.objects.bulk_create([code], update_conflicts=True, unique_fields=["user", "purpose"], update_fields=replaced)
    return text


def check(*, user: User, purpose: str, address: str, text: str) -> Code:
    """The live code that `text` is; it is not used up by this. InvalidOtp otherwise.

    Call it outside of any transaction: the counted try must stay when the caller fails.
    """
    return _check(user.id, purpose, address, text)


def refuse(*, purpose: str, address: str, text: str) -> NoReturn:
    """InvalidOtp for an address without account, after the same work as for a wrong code."""
    _check(_NOBODY, purpose, address, text)
    raise InvalidOtp


def _check(owner_id: int, purpose: str, address: str, text: str) -> Code:
    """Two commits on every way to InvalidOtp, and the same statements: its time tells nothing."""
    now = timezone.now()
    with transaction.atomic(durable=True):
        live = Code.objects.filter(
            user_id=owner_id,
            purpose=purpose,
            address=address,
            used_at=None,
            expires_at__gt=now,
            tries__lt=conf.CODE_TRIES,
        )
        counted = live.update(tries=F("tries") + 1) == 1
        code = Code.objects.filter(user_id=owner_id, purpose=purpose).first()
        if not counted:
            locks.touch_unknown(address)
    if counted and code is not None:
        if keyed_digest_matches(code.digest, "code", *_bound_to(owner_id, purpose, address), text):
            return code
    with transaction.atomic(durable=True):
        if counted:
            _count_failure(owner_id)
        else:
            locks.touch_unknown(address)
    raise InvalidOtp


def consume(code: Code) -> None:
    """Uses up a checked code, inside the caller's unit of work. InvalidOtp for all but one caller."""
    unused = Code.objects.filter(id=code.id, digest=code.digest, used_at=None)
    if unused.update(used_at=timezone.now()) != 1:
        raise InvalidOtp


def redeem(*, user: User, purpose: str, address: str, text: str) -> None:
    """Checks a code and uses it up at once, where nothing else hangs on it. InvalidOtp otherwise."""
    consume(check(user=user, purpose=purpose, address=address, text=text))


def end_all(*, user_id: int) -> None:
    """No code of this person works any more."""
    Code.objects.filter(user_id=user_id).delete()


def _bound_to(user_id: int, purpose: str, address: str) -> tuple[str, ...]:
    return (str(user_id), purpose, address)


def _digits_for(user: User) -> int:
    if user.failed_codes_day == timezone.now().date():
        for failures, digits in LONGER_AFTER:
            if user.failed_codes >= failures:
                return digits
    return DIGITS


def _count_failure(user_id: int) -> None:
    today = timezone.now().date()
    User.objects.filter(id=user_id).update(
        failed_codes=Case(When(failed_codes_day=today, then=F("failed_codes") + 1), default=Value(1)),
        failed_codes_day=today,
    )
