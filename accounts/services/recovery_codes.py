"""Recovery codes: ten printed strings, each replaces the second password once."""

import secrets
from datetime import datetime

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
    """Replaces all codes, inside the caller's unit of work. Returns the new ones, which are shown only now."""
    texts = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(conf.RECOVERY_CODES)]
    now = timezone.now()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=_digest(user, text), created_at=now) for text in texts
    )
    return ["-".join(text[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for text in texts]


def find(*, user: User, typed: str) -> RecoveryCode | None:
    """The unused code of this user that equals the input; case, spaces and dashes are ignored."""
    text = "".join(typed.upper().replace("-", "").split()).translate(_MISREAD)
    matching = None
    for code in RecoveryCode.objects.unused().filter(user=user):
        if keyed_digest_matches(code.digest, "recovery", str(user.id), text):
            matching = code
    return matching


def consume(code: RecoveryCode) -> bool:
    """Consumes the code, inside the caller's unit of work. Of many parallel callers one gets True."""
    return RecoveryCode.objects.unused().filter(id=code.id).update(used_at=timezone.now()) == 1


def count_unused(*, user: User) -> int:
    return RecoveryCode.objects.unused().filter(user=user).count()


def delete_all(*, user: User, made_since: datetime | None = None) -> None:
    own = RecoveryCode.objects.filter(user=user)
    (own if made_since is None else own.filter(created_at__gte=made_since)).delete()


def _digest(user: User, text: str) -> str:
    return keyed_digest("recovery", str(user.id), text)
