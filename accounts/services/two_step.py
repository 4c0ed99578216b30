"""The second step of a sign-in: second password, mailed code, or recovery code.

A try is counted on the token and on the account before anything is compared. Consuming the token,
and the code if there is one, is part of the transaction that starts the session.
"""

from datetime import timedelta

from django.utils import timezone

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import AccountLocked, InvalidOtp, InvalidTwoStep, TokenInvalid, TokenRevoked
from accounts.models import Code, PendingToken, User
from accounts.services import codes, login, one_time_tokens, second_password, trusted_devices
from core.request_context import Caller, network_of
from core.transactions import unit_of_work

PURPOSE = "two_step"
MAILED_DIGITS = 8
MOST_DIGITS = 10


def authenticate(token: str) -> PendingToken:
    """The valid pending second step of a token, with its user.

    TokenInvalid for an unknown token, AccountBlocked, TokenRevoked for a consumed, invalidated or expired one.
    """
    pending = one_time_tokens.find(token, kind=PendingToken.Kind.TWO_STEP)
    if pending is None:
        raise TokenInvalid
    pending.user.refuse_if_blocked(timezone.now())
    if not one_time_tokens.is_live(pending, tries=conf.TWO_STEP_TRIES):
        raise TokenRevoked
    return pending


def with_password(*, pending: PendingToken, password: str, remember: bool, caller: Caller) -> login.SignedIn:
    """Signs in with the second password or the mailed code.

    InvalidTwoStep, AccountLocked after a day's wrong ones, TokenRevoked for a token that is used up.
    """
    user = pending.user
    if not one_time_tokens.count_try(pending, tries=conf.TWO_STEP_TRIES):
        raise TokenRevoked
    try:
        second_password.count_guess(user)
    except AccountLocked:
        one_time_tokens.uncount_try(pending)
        raise
    code: Code | None = None
    if not second_password.matches(user, password):
        code = _mailed_code(user, password, network_of(caller.ip))
        if code is None:
            second_password.report_wrong_guess(user)
            raise InvalidTwoStep
    second_password.uncount_guess(user)
    device = device_token = None
    with unit_of_work():
        user = _consume_token(pending)
        if code is not None:
            _consume(code)
        if remember:
            device, device_token = trusted_devices.remember(user=user, device_name=caller.device_name)
        _, token = login.complete(user=user, caller=caller, trusted_device=device)
    return login.SignedIn(user, token, device_token)


def with_recovery_code(*, pending: PendingToken, typed: str, caller: Caller) -> login.SignedIn:
    """Signs in with a recovery code, which is consumed; the owner is notified by mail.

    InvalidTwoStep, or TokenRevoked for a token that is used up. For a quarter of an hour the new
    session may set a new second password without the old one.
    """
    if not one_time_tokens.count_try(pending, tries=conf.TWO_STEP_TRIES):
        raise TokenRevoked
    code = second_password.find_recovery_code(user=pending.user, typed=typed)
    if code is None:
        raise InvalidTwoStep
    with unit_of_work():
        user = _consume_token(pending)
        if not second_password.consume_recovery_code(code):
            raise InvalidTwoStep
        session, token = login.complete(user=user, caller=caller)
        session.second_password_free_until = timezone.now() + timedelta(minutes=conf.SECOND_PASSWORD_FREE_MINUTES)
        session.save(update_fields=["second_password_free_until"])
        left = user.recovery_codes.unused().count()
        emails.send_to(user, "recovery_code_used", left=left)
    return login.SignedIn(user, token, recovery_codes_left=left)


def resend(*, pending: PendingToken, network: str) -> None:
    """Mails a code that replaces the second password, or the reason why there is none.
    Beyond the limit of mails to the address nothing is sent.

    For a week after the first password was set by mail there is none: one mailbox would be both steps.
    """
    user = pending.user
    if not codes.may_be_mailed(address=user.email, asked_for=user, network=network):
        return
    reset_at = user.password_reset_at
    hold = timedelta(days=conf.MAILED_STEP_HOLD_DAYS)
    with unit_of_work():
        if reset_at is not None and timezone.now() - reset_at < hold:
            emails.send_to(user, "two_step_code_refused")
            return
        code = codes.issue(user=user, purpose=PURPOSE, address=user.email, digits=MAILED_DIGITS)
        emails.send_to(user, "two_step_code", code=code)


def _mailed_code(user: User, typed: str, network: str) -> Code | None:
    text = "".join(typed.split()).replace("-", "")
    if not (text.isascii() and text.isdigit() and MAILED_DIGITS <= len(text) <= MOST_DIGITS):
        return None
    try:
        return codes.check(user=user, purpose=PURPOSE, address=user.email, text=text, network=network)
    except InvalidOtp:
        return None


def _consume(code: Code) -> None:
    try:
        codes.consume(code)
    except InvalidOtp as error:
        raise InvalidTwoStep from error


def _consume_token(pending: PendingToken) -> User:
    """Consumes the token. Returns the current user row, locked."""
    user = User.objects.lock(pending.user_id)
    user.refuse_if_blocked(timezone.now())
    if not one_time_tokens.consume(pending):
        raise TokenRevoked
    return user
