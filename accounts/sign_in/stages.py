"""The stages of a sign-in: the password is compared, the lockout passed, a trusted device recognised; without one a second
step is needed (second_step.py); the last stage of every sign-in is the session.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.hashers import make_password
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts import emails
from accounts.client import Client
from accounts.conf import conf
from accounts.exceptions import AccountLocked, InvalidCredentials
from accounts.models import OneTimeToken, PasswordLock, RateCount, Session, TrustedDevice, User
from accounts.services import audit
from accounts.sign_in import lockout, sessions
from accounts.signals import account_deletion_cancelled
from accounts.tokens import keyed_digest
from core.database.compiled import compiled
from core.database.transactions import unit_of_work
from core.network import network_of

# How many of the latest sessions are searched for the same device and network.
REMEMBERED_SESSIONS = 50


@dataclass(frozen=True, slots=True)
class SignedIn:
    user: User
    token: str
    # After a second step: of the device that is trusted from now on, and how many recovery codes are left.
    device_token: str | None = None
    recovery_codes_left: int = 0


@dataclass(frozen=True, slots=True)
class SecondStepNeeded:
    two_step_token: str
    hint: str


def with_password(*, email: str, password: str, client: Client, device_token: str = "") -> SignedIn | SecondStepNeeded:
    """Signs in with the first password: a session, or a token for the second step.

    InvalidCredentials and AccountLocked, the same for an address without account: as many hashes,
    as many lockouts. AccountBlocked only after the right password. A trusted device of the account is
    not locked out.
    """

    attempt = _try_password(email, password, network_of(client.ip), device_token)
    with unit_of_work():
        passed = _pass_lockout(attempt)
        if isinstance(passed, _Passed):
            user, device = passed
            if user.two_step_enabled and device is None:
                two_step_token = OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=user)
                return SecondStepNeeded(two_step_token, user.second_password_hint)
            if device is not None:
                TrustedDevice.objects.filter(id=device.id).update(last_used_at=timezone.now())
            return SignedIn(user, complete(user=user, client=client, trusted_device=device))
    raise passed  # after the commit: the counted attempt stays


def check_password(*, email: str, password: str, network: str) -> User:
    """The account of the right password, under the same wait and the same errors, without a session.

    For entry points with a second step of their own (the admin).
    """
    attempt = _try_password(email, password, network)
    with unit_of_work():
        passed = _pass_lockout(attempt)
    if isinstance(passed, _Passed):
        return passed.user
    raise passed


def complete(*, user: User, client: Client, announce: bool = True, **fields: Any) -> str:
    """Creates a session after all checks and returns its token; `fields` are other columns of the session. AccountBlocked.

    Part of the caller's unit of work, which holds the row of the account locked.
    """
    start_session(user, client, announce=announce)
    _session, token = sessions.start(user=user, client=client, **fields)
    return token


def start_session(user: User, client: Client, *, announce: bool = True) -> None:
    """Prepares the account for a new session. AccountBlocked.

    Signing in cancels a scheduled deletion; a new device or network is announced by mail.
    """
    now = timezone.now()
    user.refuse_if_blocked(now)
    if user.erase_after is not None:
        user.erase_after = None
        user.save(update_fields=["erase_after"])
        account_deletion_cancelled.send(User, user_id=user.id)
        emails.send_to(user, "deletion_cancelled")
    if announce and _is_new(user, client):
        emails.send_to(
            user,
            "new_sign_in",
            device=emails.clean(client.device_name) or "?",
            address=client.ip or "?",
            time=now.strftime("%Y-%m-%d %H:%M"),
        )


class _Attempt(NamedTuple):
    """A password that was compared. The account and the device may have changed meanwhile."""

    email: str
    password: str
    network: str
    user: User | None
    is_right: bool
    device: TrustedDevice | None
    # There is a lockout, and the device may try in spite of it.
    is_exempt: bool


class _Passed(NamedTuple):
    """The account, whose row is locked, and its trusted device."""

    user: User
    device: TrustedDevice | None


def _try_password(email: str, password: str, network: str, device_token: str = "") -> _Attempt:
    """Compares the password, outside of a transaction: hashing takes its time. AccountLocked."""
    user = _with_email.first(email)
    device = TrustedDevice.objects.of(user, device_token)
    wait = lockout.seconds_left(lockout.row_for(email, user, network), timezone.now())
    if wait and (device is None or not _may_try_while_locked(device)):
        raise AccountLocked(retry_after=wait)
    is_right = _is_right(user, password)
    return _Attempt(email, password, network, user, is_right, device, is_exempt=bool(wait))


def _pass_lockout(attempt: _Attempt) -> _Passed | APIException:
    """Part of the caller's unit of work, in which everything follows from a right password.

    Returns the error, for after the commit, as a wrong password has been counted. A result that arrives after a lockout
    has begun is not reported, so that parallel guesses gain nothing over sequential ones. AccountBlocked.
    """
    user, device = attempt.user, attempt.device
    now = timezone.now()
    account = _lock(user)
    # The password may have changed, or the account been erased, while this one was hashed; or another sign-in has
    # renewed the hash of the same password.
    is_right = (
        attempt.is_right
        and user is not None
        and account is not None
        and (account.password == user.password or account.check_password(attempt.password))
    )
    lock = lockout.locked_row_for(attempt.email, account, attempt.network, is_wrong=not is_right)
    if device is not None:
        device = _lock_device(device)
    is_exempt = attempt.is_exempt and device is not None
    wait = lockout.seconds_left(lock, now)
    if wait and not is_exempt:
        return AccountLocked(retry_after=wait)
    if account is None or not is_right:
        if not is_exempt and lockout.count_wrong(lock, now) and account is not None:
            _announce_lock(account, lock)
        return InvalidCredentials()
    account.refuse_if_blocked(now)
    lockout.clear(lock)
    return _Passed(account, device)


@compiled
def _with_email(email: str) -> QuerySet[User]:
    return User.objects.filter(email=email)


def _lock(user: User | None) -> User | None:
    try:
        return User.objects.lock(user.id) if user is not None else None
    except User.DoesNotExist:  # erased while the password was hashed
        return None


def _lock_device(device: TrustedDevice) -> TrustedDevice | None:
    """The device, or None if it was removed while the password was hashed. A removal waits for the session that the
    device opens, and then ends it."""
    return TrustedDevice.objects.live().select_for_update().filter(id=device.id).first()


def _is_right(user: User | None, password: str) -> bool:
    """Compares the password. Computes one hash also when there is no account, so that timing is the same."""
    if user is None:
        make_password(password)
        return False
    return user.check_password(password)


def _may_try_while_locked(device: TrustedDevice) -> bool:
    tries, _left = RateCount.objects.count_use(key=keyed_digest("rate", "trusted_device", str(device.id)), seconds=3600)
    return tries <= conf.TRUSTED_DEVICE_TRIES


def _announce_lock(user: User, lock: PasswordLock) -> None:
    """Mails the owner and writes the audit log, once per series of wrong passwords and not once per lockout."""
    if lock.wrong_passwords == conf.LOCK_STEPS[0][0]:
        audit.record(action="user.locked", target=user)
        emails.send_to(user, "locked")


def _is_new(user: User, client: Client) -> bool:
    """Whether no sign-in that vouches for a device was by this program from this network.

    Before the address is confirmed the first one is not announced: the owner of the address may be someone else, who
    gets only a code.
    """
    latest = _latest(user.id)
    if not latest:
        return user.has_verified_email
    network = network_of(client.ip)
    return not any(agent == client.user_agent and network_of(ip) == network for ip, agent in latest)


@compiled
def _latest(user_id: int) -> QuerySet[Session, tuple[str | None, str]]:
    """The different addresses and programs of the latest sessions that vouch for a device."""
    latest = Session.objects.vouching_for_devices().filter(user_id=user_id).order_by("-last_used_at")
    ids = latest.values("id")[:REMEMBERED_SESSIONS]
    return Session.objects.filter(id__in=ids).values_list("ip", "user_agent").distinct()
