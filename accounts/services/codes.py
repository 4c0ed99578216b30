"""One-time codes: mailed once, good for one purpose and one address.

A try is counted and committed before anything is compared, so no error, rollback or race gives a
sixth guess. Using a code up is a conditional update, so of many parallel uses one wins. Many failed
codes on one account make its next codes longer; nobody is locked out by them.
"""

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from accounts.conf import conf
from accounts.exceptions import InvalidOtp
from accounts.models import Code, User
from accounts.services import decoys
from accounts.tokens import keyed_digest, keyed_digest_matches

DIGITS = 6
# Failed codes of an account on one day, and the digits of its codes from then on.
LONGER_AFTER = ((100, 10), (20, 8))


def issue(*, user: User, purpose: str, address: str, digits: int = DIGITS) -> str:
    """A new code of at least `digits` digits; the one before it for the same purpose is dead."""
    length = max(digits, _digits_for(user))
    text = "".join(secrets.choice("0123456789") for _ in range(length))
    now = timezone.now()
    Code.objects.update_or_create(
        user=user,
        purpose=purpose,
        defaults={
            "address": address,
            "digest": keyed_digest("code", *_bound_to(user.id, purpose, address), text),
            "tries": 0,
            "created_at": now,
            "expires_at": now + timedelta(minutes=conf.CODE_MINUTES),
            "used_at": None,
        },
    )
    return text


def check(*, user: User, purpose: str, address: str, text: str) -> Code:
    """The live code that `text` is; it is not used up by this. InvalidOtp otherwise.

    Call it outside of any transaction: the counted try must stay when the caller fails.
    """
    now = timezone.now()
    with transaction.atomic(durable=True):
        live = Code.objects.filter(
            user=user,
            purpose=purpose,
            address=address,
            used_at=None,
            expires_at__gt=now,
            tries__lt=conf.CODE_TRIES,
        )
        counted = live.update(tries=F("tries") + 1) == 1
        code = Code.objects.filter(user=user, purpose=purpose).first()
    if not counted or code is None:
        decoys.compare_no_code(email=address)
        raise InvalidOtp
    if not keyed_digest_matches(code.digest, "code", *_bound_to(user.id, purpose, address), text):
        _count_failure(user)
        raise InvalidOtp
    return code


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
    failed, day = User.objects.values_list("failed_codes", "failed_codes_day").get(id=user.id)
    if day == timezone.now().date():
        for failures, digits in LONGER_AFTER:
            if failed >= failures:
                return digits
    return DIGITS


def _count_failure(user: User) -> None:
    today = timezone.now().date()
    User.objects.filter(id=user.id).update(
        failed_codes=Case(When(failed_codes_day=today, then=F("failed_codes") + 1), default=Value(1)),
        failed_codes_day=today,
    )
