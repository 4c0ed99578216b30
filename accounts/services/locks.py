"""The wait after wrong passwords: the same for addresses with and without an account.

It lives in the database, so no flushed cache and no other process forgets it.
"""

from datetime import datetime, timedelta

from django.utils import timezone

from accounts.conf import conf
from accounts.models import PasswordLock, UnknownAddress, User
from accounts.tokens import keyed_digest


def row_for(email: str, user: User | None) -> PasswordLock:
    """Where wrong passwords for this address are counted: its account, or a keyed row."""
    return user or UnknownAddress.objects.filter(key=_key(email)).first() or UnknownAddress(key=_key(email))


def locked_row_for(email: str, user: User | None) -> PasswordLock:
    """The same row, locked against others until the transaction ends; it exists then."""
    account = User.objects.select_for_update(no_key=True).filter(id=user.id).first() if user else None
    return account or locked_unknown(email)


def locked_unknown(email: str) -> UnknownAddress:
    """The keyed row of an address, made when there is none, and locked."""
    touch_unknown(email)
    return UnknownAddress.objects.select_for_update(no_key=True).get(key=_key(email))


def touch_unknown(email: str) -> None:
    """Makes the keyed row of an address, or notes that it was asked for again, in one statement."""
    row = UnknownAddress(key=_key(email), touched_at=timezone.now())
    UnknownAddress.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["key"], update_fields=["touched_at"]
    )


def seconds_left(row: PasswordLock, now: datetime) -> int:
    """How long no password is looked at; 0 when there is no wait."""
    if row.locked_until is None:
        return 0
    left = (row.locked_until - now).total_seconds()
    longest = conf.LOCK_STEPS[-1][1]
    # A wait longer than the longest comes from a clock that was ahead: nobody is locked for ever.
    return 0 if left <= 0 or left > longest else int(left) + 1


def count_wrong(row: PasswordLock, now: datetime) -> bool:
    """One more wrong password in a row, and the wait that it brings. True when a wait begins."""
    quiet = timedelta(hours=conf.LOCK_QUIET_HOURS)
    if row.wrong_password_at is None or abs(now - row.wrong_password_at) > quiet:
        row.wrong_passwords = 0
    row.wrong_passwords += 1
    row.wrong_password_at = now
    wait = _wait_after(row.wrong_passwords)
    if wait:
        row.locked_until = now + timedelta(seconds=wait)
    changed = ["wrong_passwords", "wrong_password_at", "locked_until"]
    if isinstance(row, UnknownAddress):
        row.touched_at = now
        changed.append("touched_at")
    row.save(update_fields=changed)
    return wait > 0


def clear(row: PasswordLock) -> None:
    """Forgets the wrong passwords, if there were any."""
    if row.wrong_passwords or row.locked_until is not None:
        row.wrong_passwords = 0
        row.wrong_password_at = row.locked_until = None
        row.save(update_fields=["wrong_passwords", "wrong_password_at", "locked_until"])


def _wait_after(wrong: int) -> int:
    if wrong % conf.LOCK_EVERY:
        return 0
    return max((seconds for count, seconds in conf.LOCK_STEPS if wrong >= count), default=0)


def _key(email: str) -> str:
    return keyed_digest("address", email)
