"""Sign-in with the first password."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.contrib.auth.hashers import make_password
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import AccountBlocked, AccountLocked, InvalidCredentials
from accounts.models import TrustedDevice, User
from accounts.services import devices, locks, rate_counts, sign_in, two_step
from accounts.services.sign_in import Caller
from accounts.tokens import keyed_digest
from accounts.unit_of_work import unit_of_work

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SignedIn:
    user: User
    token: str


@dataclass(frozen=True, slots=True)
class SecondStepNeeded:
    two_step_token: str
    hint: str


def with_password(*, email: str, password: str, caller: Caller, device_token: str = "") -> SignedIn | SecondStepNeeded:
    """A session, or the way to the second step.

    InvalidCredentials and AccountLocked, the same for an address without account: as many hashes,
    as many waits. AccountBlocked only after the right password. A trusted device of the account is
    not locked out.
    """

    def go_on(user: User, device: TrustedDevice | None) -> SignedIn | SecondStepNeeded:
        if user.two_step_enabled and device is None:
            return SecondStepNeeded(two_step.begin(user=user), user.second_password_hint)
        if device is not None:
            devices.note_use(device)
        _session, token = sign_in.complete(user=user, caller=caller, trusted_device=device)
        return SignedIn(user, token)

    return _after_password(email=email, password=password, device_token=device_token, go_on=go_on)


def check_password(*, email: str, password: str) -> User:
    """The account of the right password, under the same wait and the same errors, without a session.

    For doors with a second step of their own (the admin).
    """
    return _after_password(email=email, password=password, device_token="", go_on=lambda user, device: user)


def _after_password(
    *, email: str, password: str, device_token: str, go_on: Callable[[User, TrustedDevice | None], T]
) -> T:
    """Judges a password; what follows from a right one happens in the same transaction."""
    user = User.objects.filter(email=email).first()
    device = devices.recognise(user=user, token=device_token) if user is not None else None
    wait = locks.seconds_left(locks.row_for(email, user), timezone.now())
    exempt = bool(wait) and device is not None
    if wait and not _may_try_while_locked(device):
        raise AccountLocked(retry_after=wait)
    right = _is_right(user, password)  # outside of the transaction: hashing takes its time
    outcome = _judge(email=email, user=user, right=right, device=device, exempt=exempt, go_on=go_on)
    if isinstance(outcome, APIException):
        raise outcome
    return outcome


def _is_right(user: User | None, password: str) -> bool:
    """One hash is computed whether there is a password to compare or not."""
    if user is None:
        make_password(password)
        return False
    return user.check_password(password)


def _judge(
    *,
    email: str,
    user: User | None,
    right: bool,
    device: TrustedDevice | None,
    exempt: bool,
    go_on: Callable[[User, TrustedDevice | None], T],
) -> T | APIException:
    """What follows from the verdict on a password, in the order of the row's lock.

    Errors are returned, not raised: what was counted stays. A verdict that comes while a wait has
    begun in the meantime is kept back, so that guessing in parallel is worth no more than in turn.
    """
    now = timezone.now()
    with unit_of_work():
        row = locks.locked_row_for(email, user)
        wait = locks.seconds_left(row, now)
        if wait and not exempt:
            return AccountLocked(retry_after=wait)
        if user is None or not isinstance(row, User) or not right or row.password != user.password:
            if not exempt and locks.count_wrong(row, now) and isinstance(row, User):
                _announce_lock(row)
            return InvalidCredentials()
        if row.is_blocked(now):
            return AccountBlocked()
        locks.clear(row)
        return go_on(row, device)


def _may_try_while_locked(device: TrustedDevice | None) -> bool:
    if device is None:
        return False
    tries, _left = rate_counts.count(key=keyed_digest("rate", "trusted_device", str(device.id)), seconds=3600)
    return tries <= conf.TRUSTED_DEVICE_TRIES


def _announce_lock(user: User) -> None:
    """One mail a series of wrong passwords, not one a wait."""
    if user.wrong_passwords == conf.LOCK_STEPS[0][0]:
        emails.send_to(user, "locked")
