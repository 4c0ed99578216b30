"""One-time codes: mailed once, good for one purpose and one address.

A try is counted and committed before anything is compared, so no error, rollback or race allows an extra guess. A
network has five tries and all networks together fifteen, so that one client uses up only the tries of its own
network. Consuming a code is a conditional update, so that only one of many parallel requests succeeds. Many failed
codes on one account make its next codes longer instead of locking it.
"""

import secrets
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.core.mail import get_connection
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import InvalidOtp
from accounts.models import Code, CodeTries, User
from accounts.models.sign_ins import NO_USER
from accounts.services import audit
from accounts.sign_in import lockout, networks
from accounts.tokens import keyed_digest, keyed_digest_matches
from core.api import ratelimits
from core.database.transactions import lock_in_order, unit_of_work
from core.network import network_of

# Calls outside of a request count for this network.
NO_NETWORK = network_of(None)


def issue(*, user: User, purpose: str, address: str, digits: int = 0) -> str:
    """Issues a code of the usual length, or of `digits` digits if they are more; the previous one of the same purpose becomes invalid."""
    length = max(digits, _digits_for(user))
    text = "".join(secrets.choice("0123456789") for _ in range(length))
    now = timezone.now()
    code = Code(
        user=user,
        purpose=purpose,
        address=address,
        digest=keyed_digest("code", str(user.id), purpose, address, text),
        created_at=now,
        expires_at=now + timedelta(minutes=conf.CODE_MINUTES),
    )
    replaced = ["address", "digest", "tries", "created_at", "expires_at", "used_at"]
    Code.objects.bulk_create([code], update_conflicts=True, unique_fields=["user", "purpose"], update_fields=replaced)
    return text


def send(*, user: User, purpose: str, mail: str, digits: int = 0) -> None:
    """Issues a code for the address of a user and sends it there in the mail of this kind; inside the caller's unit of work."""
    emails.send_to(user, mail, code=issue(user=user, purpose=purpose, address=user.email, digits=digits))


def send_to_address(
    *, email: str, network: str, purpose: str, mail: str, is_wanted: Callable[[User], bool] = lambda user: True
) -> None:
    """Sends a code to an address, for a request without a session, if it belongs to an account for which `is_wanted` holds.

    Nothing is sent to any other address or beyond the limit of mails; the reply is always the same.
    """
    user = User.objects.filter(email=email).first()
    if not may_be_mailed(address=email, asked_for=user, network=network):
        return
    if user is None or not is_wanted(user):
        simulate_mail(email=email)
        return
    with unit_of_work():
        # It may have been confirmed or removed, or have another address, since it was read.
        user = User.objects.lock_with_email(user.id, email)
        if user is not None and is_wanted(user):
            send(user=user, purpose=purpose, mail=mail)


def may_be_mailed(*, address: str, asked_for: User | None, network: str) -> bool:
    """Counts one mail with a code to `address`. False when the limit is reached: nothing may be sent, without an error.

    Every request that mails a code calls this first: sign-up, a new code, a reset, a mailed second step, an action and
    a new address. Not counted are codes that support sends, and the one that follows a confirmed code (a new password
    for a contested address).

    Networks known to `asked_for` (the account that the mail is about, None without one) have a budget of
    their own, which requests from all other networks cannot use up.
    """
    is_known = networks.knows_network(asked_for, network)
    return ratelimits.allows("code_mails_known" if is_known else "code_mails_unknown", address)


def simulate_mail(*, email: str) -> None:
    """Does the work of mailing a code (lock, digest, row, text, outbox row, one commit) and sends nothing.

    For addresses that get no mail, so that response times do not reveal accounts.
    """
    with unit_of_work():
        User.objects.lock_with_email(NO_USER, email)
        keyed_digest("code", email)
        lockout.record_unknown_address(email)
        mail = emails.render("reset_code", email, settings.LANGUAGE_CODE, {"name": "x", "code": "000000"})
        # Only a queue can accept a mail and discard it.
        discard = getattr(get_connection(), "discard_messages", None)
        if discard is not None:
            discard([mail])


# The try is committed before the comparison: docs/decisions/authentication.md#0040
def check(*, user: User | None, purpose: str, address: str, text: str, network: str = NO_NETWORK) -> Code:
    """Returns the valid code that equals `text` with its user, without consuming it. InvalidOtp otherwise, and without
    a user, for an address that has no account.

    Runs two commits and the same statements on every path to InvalidOtp, so that timing reveals nothing. Call it
    outside of any transaction: the counted try must stay when the caller fails.
    """
    owner_id = NO_USER if user is None else user.id
    with transaction.atomic(durable=True):
        live = Code.objects.live().filter(
            user_id=owner_id, purpose=purpose, address=address, tries__lt=conf.CODE_TRIES_IN_ALL
        )
        # Locked, so that it is not deleted while its tries are counted.
        code = live.select_for_update(no_key=True).first()
        counted = code is not None and _count_try(code, network)
        if code is None:
            lockout.record_unknown_address(address)
            lockout.record_unknown_address(address)
    if counted and code is not None and user is not None:
        if keyed_digest_matches(code.digest, "code", str(user.id), purpose, address, text):
            code.user = user
            return code
    with transaction.atomic(durable=True):
        if counted:
            _count_failure(owner_id)
        else:
            lockout.record_unknown_address(address)
        failures = User.objects.filter(id=owner_id).values_list("failed_codes", flat=True).first()
        if counted and user is not None:
            _report_failures(user, failures or 0)
    raise InvalidOtp


def consume(code: Code) -> None:
    """Consumes a checked code, inside the caller's unit of work. InvalidOtp for all but one of parallel callers."""
    unused = Code.objects.unused().filter(id=code.id, digest=code.digest)
    if unused.update(used_at=timezone.now()) != 1:
        raise InvalidOtp


def end_all(*, user_id: int) -> None:
    delete(Code.objects.filter(user_id=user_id))


def delete(which: QuerySet[Code]) -> None:
    """Deletes codes, inside the caller's unit of work. Locks them first: a concurrent guess adds tries to its code."""
    Code.objects.filter(id__in=lock_in_order(which, no_key=False)).delete()


def _digits_for(user: User) -> int:
    failed_today = user.failed_codes if user.failed_codes_day == timezone.now().date() else 0
    return next((digits for failures, digits in conf.CODE_GROWS_AFTER if failed_today >= failures), conf.CODE_DIGITS)


def _count_try(code: Code, network: str) -> bool:
    """Counts a try of this network at this code. False when the network or the code has had all of its tries."""
    CodeTries.objects.bulk_create([CodeTries(code=code, digest=code.digest, network=network)], ignore_conflicts=True)
    own = CodeTries.objects.filter(code=code, digest=code.digest, network=network, tries__lt=conf.CODE_TRIES)
    if own.update(tries=F("tries") + 1) != 1:
        return False
    live = Code.objects.unused().filter(id=code.id, digest=code.digest, tries__lt=conf.CODE_TRIES_IN_ALL)
    return live.update(tries=F("tries") + 1) == 1


def _count_failure(user_id: int) -> None:
    today = timezone.now().date()
    User.objects.filter(id=user_id).update(
        failed_codes=Case(When(failed_codes_day=today, then=F("failed_codes") + 1), default=Value(1)),
        failed_codes_day=today,
    )


def _report_failures(user: User, failures: int) -> None:
    """Mails the owner and writes the audit log when codes get longer: once for each length, not once for each try."""
    if failures in {least for least, _digits in conf.CODE_GROWS_AFTER}:
        with unit_of_work():
            audit.record(action="user.codes_refused", target=user, codes=failures)
            emails.send_to(user, "many_wrong_codes")
