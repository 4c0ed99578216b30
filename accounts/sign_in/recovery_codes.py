"""Recovery codes: printed strings, each good for one sign-in without the second password."""

import secrets
from datetime import datetime

from accounts import emails
from accounts.conf import conf
from accounts.models import RateCount, RecoveryCode, User
from accounts.services import audit
from accounts.tokens import keyed_digest, keyed_digests
from core.characters import read_printed_code
from core.database.transactions import unit_of_work

DAY_SECONDS = 86_400
# Crockford's base 32: no letter that could be read as a digit. 16 characters are 80 bits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 16
GROUP = 4
_MISREAD = str.maketrans({"O": "0", "I": "1", "L": "1"})


def report_wrong_recovery_code(user: User) -> None:
    """Counts a wrong recovery code of the account, and mails the owner as for second passwords. Only the tries
    of a sign-in limit it: a code has 80 random bits, and the owner may still need one."""
    key = keyed_digest("rate", "recovery_code", str(user.id))
    wrong, _left = RateCount.objects.count_use(key=key, seconds=DAY_SECONDS)
    if conf.WRONG_SECOND_PASSWORDS_MAILED <= wrong <= conf.WRONG_SECOND_PASSWORDS_A_DAY:
        with unit_of_work():
            audit.record(action="user.second_step_refused", target=user, recovery_codes=wrong)
            emails.send_to(user, "wrong_recovery_code")


def replace_recovery_codes(*, user: User, now: datetime) -> list[str]:
    """Replaces all codes, inside the caller's unit of work. Returns the new ones, which are shown only now."""
    texts = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(conf.RECOVERY_CODES)]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=keyed_digest("recovery", str(user.id), text), created_at=now) for text in texts
    )
    return ["-".join(text[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for text in texts]


def find_recovery_code(*, user: User, typed: str) -> RecoveryCode | None:
    """The unused code of this user that equals the input, read as `read_printed_code` does."""
    text = read_printed_code(typed).translate(_MISREAD)
    digests = keyed_digests("recovery", str(user.id), text)
    return RecoveryCode.objects.unused().filter(user=user, digest__in=digests).first()
