"""The login lockout after wrong passwords, the same for addresses with and without an account.

The lockout is stored in the database, so it survives a flushed cache and holds for all processes. Each known network of
the account is counted on its own and all other networks together, so wrong passwords from unknown networks do not lock
out the owner in a known one. Addresses without account have no known networks.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.conf import conf
from accounts.models import NetworkLock, PasswordLock, UnknownAddress, User
from accounts.sign_in import networks
from accounts.tokens import keyed_digest
from core.database.compiled import compiled

# How many accounts with a lockout in a known network the admin list shows at most.
MAX_LISTED = 1000


# Known networks are counted apart: docs/decisions/authentication.md#0043
def row_for(email: str, user: User | None, network: str) -> PasswordLock:
    """The row with the valid lockout: of the account, of a network that it knows, or of an unknown address."""
    unknown = UnknownAddress.objects.filter(key=_key(email)).first() if user is None else None
    in_network = _network_locks.first(user.id, network) if user is not None else None
    return _row_in(network, user, user or unknown or UnknownAddress(key=_key(email)), in_network, is_wrong=False)


def locked_row_for(email: str, account: User | None, network: str, *, is_wrong: bool) -> PasswordLock:
    """Reads that row after the password was checked; it stays locked until the transaction ends.

    The caller holds the row of the account, if there is one, locked. The row of a network is locked, too: the purge
    removes old ones.
    """
    in_network = _locked_network_locks.first(account.id, network) if account is not None else None
    return _row_in(network, account, account or locked_unknown(email), in_network, is_wrong=is_wrong)


def _row_in(
    network: str, user: User | None, row: PasswordLock, in_network: NetworkLock | None, *, is_wrong: bool
) -> PasswordLock:
    """The row of the network if the account knows it, else `row`; also `row` if neither has counts and none is needed."""
    if not (is_wrong or row.has_counts or (in_network is not None and in_network.has_counts)):
        return row
    if not networks.knows_network(user, network) or user is None:
        return row
    return in_network or NetworkLock(user=user, network=network)  # stored by the first wrong password


@compiled
def _network_locks(user_id: int, network: str) -> QuerySet[NetworkLock]:
    return NetworkLock.objects.filter(user_id=user_id, network=network)


@compiled
def _locked_network_locks(user_id: int, network: str) -> QuerySet[NetworkLock]:
    return NetworkLock.objects.select_for_update(no_key=True).filter(user_id=user_id, network=network)


def locked_unknown(email: str) -> UnknownAddress:
    """The keyed row of an address, created when missing, and locked."""
    record_unknown_address(email)
    return UnknownAddress.objects.select_for_update(no_key=True).get(key=_key(email))


def record_unknown_address(email: str) -> None:
    """Creates the keyed row of an address, or updates its time, in one statement."""
    row = UnknownAddress(key=_key(email), touched_at=timezone.now())
    UnknownAddress.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["key"], update_fields=["touched_at"]
    )


def seconds_left(row: PasswordLock, now: datetime) -> int:
    """The seconds until the lockout ends; 0 without a lockout."""
    if row.locked_until is None:
        return 0
    left = (row.locked_until - now).total_seconds()
    longest = conf.LOCK_STEPS[-1][1]
    # A lockout longer than the maximum is the result of a wrong clock and is ignored.
    return 0 if left <= 0 or left > longest else int(left) + 1


def is_locked(now: datetime) -> Q:
    """A condition on accounts: locked in a known network or in all others."""
    # The few ids are read first, so that the index of the column is used. A subquery beside OR would not use it.
    ids = NetworkLock.objects.filter(locked_until__gt=now).values_list("user_id", flat=True)
    return Q(locked_until__gt=now) | Q(id__in=list(ids[:MAX_LISTED]))


def locked_until(user: User, now: datetime) -> datetime | None:
    """When the last lockout of the account ends; None without one."""
    ends = [user.locked_until, *(lock.locked_until for lock in user.network_locks.all())]
    return max((end for end in ends if end is not None and end > now), default=None)


def count_wrong(row: PasswordLock, now: datetime) -> bool:
    """Counts a wrong password and starts the lockout that follows from it. True when a lockout begins."""
    quiet = timedelta(hours=conf.LOCK_QUIET_HOURS)
    if row.wrong_password_at is None or abs(now - row.wrong_password_at) > quiet:
        row.wrong_passwords = 0
    row.wrong_passwords += 1
    row.wrong_password_at = now
    wait = _wait_after(row.wrong_passwords)
    if wait:
        row.locked_until = now + timedelta(seconds=wait)
    row.save(update_fields=["wrong_passwords", "wrong_password_at", "locked_until"] if row.pk else None)
    return wait > 0


def clear_all(user: User) -> None:
    """Clears the wrong passwords from every network."""
    clear(user)
    NetworkLock.objects.filter(user=user).delete()


def clear(row: PasswordLock) -> None:
    """Clears the wrong passwords, if there were any."""
    if row.has_counts:
        row.wrong_passwords = 0
        row.wrong_password_at = row.locked_until = None
        row.save(update_fields=["wrong_passwords", "wrong_password_at", "locked_until"])


def _wait_after(wrong: int) -> int:
    if wrong % conf.LOCK_EVERY:
        return 0
    return max((seconds for count, seconds in conf.LOCK_STEPS if wrong >= count), default=0)


def _key(email: str) -> str:
    return keyed_digest("address", email)
