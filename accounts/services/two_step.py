"""The second step of a sign-in: second password, mailed code, or recovery code (ten printed strings, each good once); and the
trusted devices, which skip it.

A try is counted on the token and on the account before anything is compared. Consuming the token,
and the code if there is one, is part of the transaction that starts the session.
"""

import secrets
from datetime import datetime, time, timedelta

from django.contrib.auth.hashers import check_password
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import AccountLocked, InvalidOtp, InvalidTwoStep, TokenInvalid, TokenRevoked
from accounts.models import Code, OneTimeToken, RecoveryCode, Session, TrustedDevice, User
from accounts.services import codes, login, sessions
from accounts.tokens import keyed_digest, keyed_digests, new_opaque_token
from core.exceptions import NotFound
from core.request_context import Client, network_of
from core.transactions import unit_of_work

MAILED_DIGITS = 8
MOST_DIGITS = 10

# Crockford's base 32: no letter that could be read as a digit. 16 characters are 80 bits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 16
GROUP = 4
_MISREAD = str.maketrans({"O": "0", "I": "1", "L": "1"})
_WRONG_RECOVERY_CODE = gettext_lazy("The code is wrong or has been used.")


def authenticate(token: str) -> OneTimeToken:
    """The valid pending second step of a token, with its user.

    TokenInvalid for an unknown token, AccountBlocked, TokenRevoked for a consumed, invalidated or expired one.
    """
    pending = OneTimeToken.objects.of(token, OneTimeToken.Kind.TWO_STEP)
    if pending is None:
        raise TokenInvalid
    pending.user.refuse_if_blocked(timezone.now())
    if not pending.is_live():
        raise TokenRevoked
    return pending


def with_password(*, pending: OneTimeToken, password: str, remember: bool, client: Client) -> login.SignedIn:
    """Signs in with the second password or the mailed code.

    InvalidTwoStep, AccountLocked after a day's wrong ones, TokenRevoked for a token that is used up.
    """
    user = pending.user
    if not pending.count_try():
        raise TokenRevoked
    try:
        code = guess(user=user, password=password, network=network_of(client.ip))
    except AccountLocked:
        pending.uncount_try()
        raise
    device = device_token = None
    with unit_of_work():
        user = _consume_token(pending)
        if code is not None:
            try:
                codes.consume(code)
            except InvalidOtp as error:
                raise InvalidTwoStep from error
        if remember:
            device, device_token = remember_device(user=user, device_name=client.device_name)
        token = login.complete(user=user, client=client, trusted_device=device)
    return login.SignedIn(user, token, device_token)


def with_recovery_code(*, pending: OneTimeToken, typed: str, client: Client) -> login.SignedIn:
    """Signs in with a recovery code, which is consumed; the owner is notified by mail.

    InvalidTwoStep, or TokenRevoked for a token that is used up. For a quarter of an hour the new
    session may set a new second password without the old one.
    """
    if not pending.count_try():
        raise TokenRevoked
    code = _find_recovery_code(user=pending.user, typed=typed)
    if code is None:
        raise InvalidTwoStep(_WRONG_RECOVERY_CODE)
    with unit_of_work():
        user = _consume_token(pending)
        if not RecoveryCode.objects.unused().filter(id=code.id).update(used_at=timezone.now()):
            raise InvalidTwoStep(_WRONG_RECOVERY_CODE)
        free_until = timezone.now() + timedelta(minutes=conf.SECOND_PASSWORD_FREE_MINUTES)
        token = login.complete(user=user, client=client, second_password_free_until=free_until)
        left = user.recovery_codes.unused().count()
        emails.send_to(user, "recovery_code_used", left=left)
    return login.SignedIn(user, token, recovery_codes_left=left)


def resend(*, pending: OneTimeToken, network: str) -> None:
    """Mails a code that replaces the second password, or the reason why there is none.
    Beyond the limit of mails to the address nothing is sent.

    For a week after the first password was set by mail there is none: one mailbox would be both steps.
    """
    if not codes.may_be_mailed(address=pending.user.email, asked_for=pending.user, network=network):
        return
    hold = timedelta(days=conf.MAILED_STEP_HOLD_DAYS)
    with unit_of_work():
        # The address may have changed, and the password been reset, since the token was read.
        user = User.objects.lock_active(pending.user_id)
        reset_at = user.password_reset_at
        if reset_at is not None and timezone.now() - reset_at < hold:
            emails.send_to(user, "two_step_code_refused")
            return
        codes.send(user=user, purpose=Code.Purpose.TWO_STEP, mail="two_step_code", digits=MAILED_DIGITS)


def _mailed_code(user: User, typed: str, network: str) -> Code | None:
    text = "".join(typed.split()).replace("-", "")
    if not (text.isascii() and text.isdigit() and MAILED_DIGITS <= len(text) <= MOST_DIGITS):
        return None
    try:
        return codes.check(user=user, purpose=Code.Purpose.TWO_STEP, address=user.email, text=text, network=network)
    except InvalidOtp:
        return None


def _consume_token(pending: OneTimeToken) -> User:
    """Consumes the token. Returns the current user row, locked."""
    user = User.objects.lock(pending.user_id)
    user.refuse_if_blocked(timezone.now())
    if not pending.consume():
        raise TokenRevoked
    return user


# --- Guesses at the second password: counted on the account, over all sign-ins and sessions ---


def guess(*, user: User, password: str, network: str | None = None) -> Code | None:
    """Counts and checks a guess. InvalidTwoStep for a wrong one, AccountLocked when the day's guesses are used up.

    With the `network` of a sign-in the mailed code will do, too; it is returned and not consumed yet.
    """
    _count_guess(user)
    code = None
    if not matches(user, password):
        code = _mailed_code(user, password, network) if network is not None else None
        if code is None:
            _report_wrong_guess(user)
            raise InvalidTwoStep
    _uncount_guess(user)
    return code


def matches(user: User, password: str) -> bool:
    """Whether this is the second password of an account that has one."""
    return user.two_step_enabled and check_password(password, user.second_password)


def wrong_guesses_today(user: User) -> int:
    """The wrong guesses that count against today's limit."""
    return user.wrong_second_passwords if user.wrong_second_passwords_day == timezone.now().date() else 0


def _count_guess(user: User) -> None:
    """Counts one guess at the second password of an account, before it is compared.

    AccountLocked when the day's guesses are used up, over all sign-ins and sessions.
    """
    now = timezone.now()
    today = now.date()
    own = User.objects.filter(id=user.id)
    own.exclude(wrong_second_passwords_day=today).update(wrong_second_passwords=0, wrong_second_passwords_day=today)
    allowed = own.filter(wrong_second_passwords__lt=conf.WRONG_SECOND_PASSWORDS_A_DAY)
    if allowed.update(wrong_second_passwords=F("wrong_second_passwords") + 1) != 1:
        raise AccountLocked(retry_after=_seconds_to_midnight(now))


def _uncount_guess(user: User) -> None:
    """Takes a counted guess back when it was right or nothing was compared."""
    User.objects.filter(id=user.id, wrong_second_passwords__gt=0).update(
        wrong_second_passwords=F("wrong_second_passwords") - 1
    )


def _report_wrong_guess(user: User) -> None:
    """Mails the owner once there are several wrong guesses: the first password is known to another."""
    wrong = User.objects.values_list("wrong_second_passwords", flat=True).get(id=user.id)
    if wrong >= conf.WRONG_SECOND_PASSWORDS_MAILED:
        with unit_of_work():
            emails.send_to(user, "wrong_second_password")


def _seconds_to_midnight(now: datetime) -> int:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return max(1, int((midnight - now).total_seconds()) + 1)


# --- Recovery codes ---


def replace_recovery_codes(*, user: User) -> list[str]:
    """Replaces all codes, inside the caller's unit of work. Returns the new ones, which are shown only now."""
    texts = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(conf.RECOVERY_CODES)]
    now = timezone.now()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, digest=keyed_digest("recovery", str(user.id), text), created_at=now) for text in texts
    )
    return ["-".join(text[at : at + GROUP] for at in range(0, LENGTH, GROUP)) for text in texts]


def _find_recovery_code(*, user: User, typed: str) -> RecoveryCode | None:
    """The unused code of this user that equals the input; case, spaces and dashes are ignored."""
    text = "".join(typed.upper().replace("-", "").split()).translate(_MISREAD)
    digests = keyed_digests("recovery", str(user.id), text)
    return RecoveryCode.objects.unused().filter(user=user, digest__in=digests).first()


# --- Trusted devices ---


def remember_device(*, user: User, device_name: str = "") -> tuple[TrustedDevice, str]:
    """Adds a trusted device, inside the caller's unit of work; removes the oldest ones beyond the limit. Returns its token,
    too."""
    token, digest = new_opaque_token()
    now = timezone.now()
    device = TrustedDevice.objects.create(
        user=user,
        digest=digest,
        device_name=device_name,
        created_at=now,
        last_used_at=now,
        expires_at=now + timedelta(days=conf.TRUSTED_DEVICE_DAYS),
    )
    newest = user.trusted_devices.order_by("-created_at", "-id").values_list("id", flat=True)
    user.trusted_devices.exclude(id__in=list(newest[: conf.TRUSTED_DEVICES_MAX])).delete()
    return device, token


def remove_device(*, user: User, device_id: int | None) -> None:
    """Removes one trusted device and ends the sessions that it opened. NotFound for a device of another user."""
    with unit_of_work():
        # The account first, then its devices and sessions: two that lock several of these would wait for each other.
        User.objects.lock(user.id)
        device = TrustedDevice.objects.live().select_for_update().filter(user=user, id=device_id).first()
        if device is None:
            raise NotFound
        sessions.revoke(Session.objects.not_ended().filter(trusted_device=device), reason="device_removed")
        device.delete()
