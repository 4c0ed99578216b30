"""Recovery codes: ten printed strings, each stands in for the second password once."""

import secrets

from django.utils import timezone

from accounts.conf import conf
from accounts.models import RecoveryCode, User
from accounts.tokens import keyed_digest, keyed_digest_matches

# Crockford's base 32: no letter that could be read as a digit. 16 characters are 80 bits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 16
GROUP = 4
_MISREAD = str.maketrans({"O": "0", "I": "1", "L": "1"})


def replace_all(*, user: User) -> list[str]:
    """New codes in place of all old ones, inside the caller's unit of work; shown this once."""
    texts = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(conf.RECOVERY_CODES)]
    now = timezone.now()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=_digest(user, text), created_at=now) for text in texts
    )
    return ["-".join(text[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for text in texts]


def find(*, user: User, typed: str) -> RecoveryCode | None:
    """The unused code of this person that was typed: case, spaces and dashes are free."""
    text = "".join(typed.upper().replace("-", "").split()).translate(_MISREAD)
    found = None
    for code in RecoveryCode.objects.filter(user=user, used_at=None):
        if keyed_digest_matches(code.digest, "recovery", str(user.id), text):
            found = code
    return found


def consume(code: RecoveryCode) -> bool:
    """Uses the code up, inside the caller's unit of work. Of many parallel callers one is told True."""
    unused = RecoveryCode.objects.filter(id=code.id, used_at=None)
    return unused.update(used_at=timezone.now()) == 1


def left(*, user: User) -> int:
    """How many codes are unused."""
    return RecoveryCode.objects.filter(user=user, used_at=None).count()


def delete_all(*, user: User) -> None:
    RecoveryCode.objects.filter(user=user).delete()


def _digest(user: User, text: str) -> str:
    return keyed_digest("recovery", str(user.id), text)
