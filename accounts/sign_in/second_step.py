"""The second step of a sign-in: second password, mailed code, or recovery code.

A try is counted on the token and on the account before anything is compared. Consuming the token,
and the code if there is one, is part of the transaction that starts the session.
"""

from datetime import datetime, time, timedelta

from django.contrib.auth.hashers import check_password
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts import emails
from accounts.client import Client
from accounts.conf import code_lengths, conf
from accounts.exceptions import AccountLocked, InvalidOtp, InvalidTwoStep, TokenInvalid, TokenRevoked
from accounts.models import Code, OneTimeToken, RecoveryCode, User
from accounts.services import audit
from accounts.sign_in import codes, stages
from accounts.sign_in.recovery_codes import find_recovery_code, report_wrong_recovery_code
from accounts.sign_in.trusted_devices import remember_device
from core.characters import read_code
from core.database.transactions import unit_of_work
from core.network import network_of

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


def with_password(*, pending: OneTimeToken, password: str, remember: bool, client: Client) -> stages.SignedIn:
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
        token = stages.complete(user=user, client=client, trusted_device=device)
    return stages.SignedIn(user, token, device_token)


def with_recovery_code(*, pending: OneTimeToken, typed: str, client: Client) -> stages.SignedIn:
    """Signs in with a recovery code, which is consumed; the owner is notified by mail.

    InvalidTwoStep, or TokenRevoked for a token that is used up. For a quarter of an hour the new
    session may set a new second password without the old one.
    """
    if not pending.count_try():
        raise TokenRevoked
    code = find_recovery_code(user=pending.user, typed=typed)
    if code is None:
        report_wrong_recovery_code(pending.user)
        raise InvalidTwoStep(_WRONG_RECOVERY_CODE)
    with unit_of_work():
        user = _consume_token(pending)
        if not RecoveryCode.objects.unused().filter(id=code.id).update(used_at=timezone.now()):
            raise InvalidTwoStep(_WRONG_RECOVERY_CODE)
        free_until = timezone.now() + timedelta(minutes=conf.SECOND_PASSWORD_FREE_MINUTES)
        token = stages.complete(user=user, client=client, second_password_free_until=free_until)
        left = user.recovery_codes.unused().count()
        emails.send_to(user, "recovery_code_used", left=left)
    return stages.SignedIn(user, token, recovery_codes_left=left)


def resend(*, pending: OneTimeToken, network: str) -> None:
    """Mails a code that replaces the second password, or the reason why there is not one.
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
        codes.send(user=user, purpose=Code.Purpose.TWO_STEP, mail="two_step_code", digits=conf.MAILED_STEP_DIGITS)


def _mailed_code(user: User, typed: str, network: str) -> Code | None:
    text = read_code(typed)
    if text is None or not conf.MAILED_STEP_DIGITS <= len(text) <= code_lengths()[-1]:
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
    count_guess(user)
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


def count_guess(user: User) -> None:
    """Counts one guess at the second password of an account, before it is compared.

    AccountLocked when the day's guesses are used up, over all sign-ins and sessions.
    """
    now = timezone.now()
    today = now.date()
    own = User.objects.filter(id=user.id)
    own.exclude(wrong_second_passwords_day=today).update(wrong_second_passwords=0, wrong_second_passwords_day=today)
    allowed = own.filter(wrong_second_passwords__lt=conf.WRONG_SECOND_PASSWORDS_A_DAY)
    if allowed.update(wrong_second_passwords=F("wrong_second_passwords") + 1) != 1:
        raise AccountLocked(retry_after=seconds_to_midnight(now))


def _uncount_guess(user: User) -> None:
    """Takes a counted guess back when it was right or nothing was compared."""
    User.objects.filter(id=user.id, wrong_second_passwords__gt=0).update(
        wrong_second_passwords=F("wrong_second_passwords") - 1
    )


def _report_wrong_guess(user: User) -> None:
    """Mails the owner after several wrong guesses: someone else knows the first password."""
    wrong = User.objects.values_list("wrong_second_passwords", flat=True).get(id=user.id)
    if wrong >= conf.WRONG_SECOND_PASSWORDS_MAILED:
        with unit_of_work():
            audit.record(action="user.second_step_refused", target=user, second_passwords=wrong)
            emails.send_to(user, "wrong_second_password")


def seconds_to_midnight(now: datetime) -> int:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return max(1, int((midnight - now).total_seconds()) + 1)
