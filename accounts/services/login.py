"""Sign-in with the first password, and the last step of every sign-in: the session."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.hashers import make_password
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import AccountLocked, InvalidCredentials
from accounts.models import OneTimeToken, PasswordLock, RateCount, Session, TrustedDevice, User
from accounts.services import audit, login_lockout, sessions
from accounts.tokens import keyed_digest
from core.database import compiled
from core.request_context import Client, network_of
from core.transactions import unit_of_work

T = TypeVar("T")

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

    def on_success(user: User, device: TrustedDevice | None) -> SignedIn | SecondStepNeeded:
        if user.two_step_enabled and device is None:
            two_step_token = OneTimeToken.objects.issue(kind=OneTimeToken.Kind.TWO_STEP, user=user)
            return SecondStepNeeded(two_step_token, user.second_password_hint)
        if device is not None:
            TrustedDevice.objects.filter(id=device.id).update(last_used_at=timezone.now())
        return SignedIn(user, complete(user=user, client=client, trusted_device=device))

    network = network_of(client.ip)
    return _after_password(
        email=email, password=password, network=network, on_success=on_success, device_token=device_token
    )


def check_password(*, email: str, password: str, network: str) -> User:
    """The account of the right password, under the same wait and the same errors, without a session.

    For entry points with a second step of their own (the admin).
    """
    return _after_password(email=email, password=password, network=network, on_success=lambda user, device: user)


def complete(*, user: User, client: Client, announce: bool = True, **fields: Any) -> str:
    """Creates a session after all checks and returns its token; `fields` are other columns of the session. AccountBlocked.

    Part of the caller's unit of work, which holds the row of the account locked.
    """
    admit(user, client, announce=announce)
    _session, token = sessions.start(user=user, client=client, **fields)
    return token


def admit(user: User, client: Client, *, announce: bool = True) -> None:
    """What precedes every session. AccountBlocked.

    Signing in cancels a scheduled deletion; a new device or network is announced by mail.
    """
    now = timezone.now()
    user.refuse_if_blocked(now)
    if user.erase_after is not None:
        user.erase_after = None
        user.save(update_fields=["erase_after"])
        emails.send_to(user, "deletion_cancelled")
    if announce and _is_new(user, client):
        emails.send_to(
            user,
            "new_sign_in",
            device=emails.clean(client.device_name) or "?",
            address=client.ip or "?",
            time=now.strftime("%Y-%m-%d %H:%M"),
        )


def _after_password(
    *,
    email: str,
    password: str,
    network: str,
    on_success: Callable[[User, TrustedDevice | None], T],
    device_token: str = "",
) -> T:
    """Checks a password; what follows from a right one happens in the same transaction.

    A result that arrives after a lockout has begun is not reported, so that parallel guesses gain nothing over
    sequential ones.
    """
    user = _with_email.first(email)
    device = TrustedDevice.objects.of(user, device_token) if user is not None else None
    lock = login_lockout.row_for(email, user, network)
    wait = login_lockout.seconds_left(lock, timezone.now())
    exempt = bool(wait) and device is not None
    if wait and (device is None or not _may_try_while_locked(device)):
        raise AccountLocked(retry_after=wait)
    is_right = _is_right(user, password)  # outside of the transaction: hashing takes its time
    now = timezone.now()
    error: APIException
    with unit_of_work():
        account = _lock(user)
        # The password may have changed, or the account been erased, while this one was hashed; or another sign-in has
        # renewed the hash of the same password.
        is_right = (
            is_right
            and user is not None
            and account is not None
            and (account.password == user.password or account.check_password(password))
        )
        lock = login_lockout.locked_row_for(email, account, network, is_wrong=not is_right)
        if device is not None:
            device = _lock_device(device)
            exempt = exempt and device is not None
        wait = login_lockout.seconds_left(lock, now)
        if wait and not exempt:
            error = AccountLocked(retry_after=wait)
        elif account is None or not is_right:
            if not exempt and login_lockout.count_wrong(lock, now) and account is not None:
                _announce_lock(account, lock)
            error = InvalidCredentials()
        else:
            account.refuse_if_blocked(now)
            login_lockout.clear(lock)
            return on_success(account, device)
    raise error  # after the commit: the counted attempt stays


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
    """There were sign-ins before, and none by this program from this network."""
    latest = _latest(user.id)
    network = network_of(client.ip)
    return bool(latest) and not any(agent == client.user_agent and network_of(ip) == network for ip, agent in latest)


@compiled
def _latest(user_id: int) -> QuerySet[Session, tuple[str | None, str]]:
    """The different addresses and programs of the latest sessions."""
    latest = Session.objects.filter(user_id=user_id).exclude(ended_reason="contested").order_by("-last_used_at")
    ids = latest.values("id")[:REMEMBERED_SESSIONS]
    return Session.objects.filter(id__in=ids).values_list("ip", "user_agent").distinct()
