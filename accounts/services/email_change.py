"""Changes the address by a code to the new one. For a week the old one can undo the change."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import EmailTaken, InvalidOtp
from accounts.models import Code, EmailChange, OneTimeToken, Session, User
from accounts.selectors import address_is_taken
from accounts.services import password, registration
from accounts.sign_in import action_tokens, codes, second_password
from accounts.signals import account_deletion_cancelled, profile_changed
from accounts.tokens import new_opaque_token, opaque_digest
from core.api.exceptions import NotFound
from core.conf import project
from core.database.transactions import unit_of_work
from core.network import network_of


def start(*, user: User, session: Session, action_token: OneTimeToken, email: str) -> None:
    """Mails a code to the new address; the account keeps the old one until then. EmailTaken if another account has
    confirmed it.

    Beyond the limit of mails to that address nothing is sent, and the reply is the same.
    """
    action_tokens.count_try(action_token)
    if address_is_taken(email, asked_by=user.id, confirmed=True):
        raise EmailTaken
    may_be_sent = codes.may_be_mailed(address=email, asked_for=user, network=network_of(session.ip))
    now = timezone.now()
    with unit_of_work():
        # Locked: of two changes that start at once, the later one replaces the earlier.
        user = User.objects.lock_active(user.id)
        action_tokens.consume(action_token)
        EmailChange.objects.filter(user=user, confirmed_at=None).delete()
        EmailChange.objects.create(
            user=user,
            old_email=user.email,
            new_email=email,
            created_at=now,
            expires_at=now + timedelta(minutes=conf.CODE_MINUTES),
        )
        if may_be_sent:
            code = codes.issue(user=user, purpose=Code.Purpose.CHANGE_EMAIL, address=email)
            emails.send_to(user, "change_email", to=email, code=code)


def verify(*, user: User, code: str, network: str) -> User:
    """Replaces the old address, which is mailed a link to undo the change. An account with the new address that has not
    confirmed it is removed.

    InvalidOtp; EmailTaken when another account has confirmed the address in the meantime.
    """
    change = EmailChange.objects.pending().filter(user=user).first()
    if change is None:
        raise InvalidOtp
    checked = codes.check(
        user=user, purpose=Code.Purpose.CHANGE_EMAIL, address=change.new_email, text=code, network=network
    )
    token, digest = new_opaque_token()
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        codes.consume(checked)
        displaced_id = _change_address(user, change.new_email)
        now = timezone.now()
        until = now + timedelta(days=conf.EMAIL_UNDO_DAYS)
        # Gone when another change was started after the code was checked.
        pending = EmailChange.objects.pending().filter(id=change.id)
        if not pending.update(confirmed_at=now, undo_digest=digest, expires_at=until):
            raise InvalidOtp
        _mail_undo_link(user, change.old_email, token)
    if displaced_id is not None:
        registration.remove_unconfirmed(displaced_id)
    return user


def set_confirmed(user: User, email: str) -> int | None:
    """Replaces the address of an account whose row the caller holds locked by one that the team's own server vouches for.

    The old address gets a link to undo the change, but only if it was confirmed: otherwise its owner is unknown.
    Returns the id of the unconfirmed account that had the address, to be removed after the caller's unit of work.
    EmailTaken.
    """
    if user.email == email:
        return None
    old_email, was_verified = user.email, user.has_verified_email
    EmailChange.objects.filter(user=user, confirmed_at=None).delete()
    displaced_id = _change_address(user, email)
    if not was_verified:
        registration.confirm(user)
        return displaced_id
    token, digest = new_opaque_token()
    now = timezone.now()
    EmailChange.objects.create(
        user=user,
        old_email=old_email,
        new_email=email,
        created_at=now,
        confirmed_at=now,
        undo_digest=digest,
        expires_at=now + timedelta(days=conf.EMAIL_UNDO_DAYS),
    )
    _mail_undo_link(user, old_email, token)
    return displaced_id


def _mail_undo_link(user: User, old_email: str, token: str) -> None:
    # Never from the headers of the request, which the client controls.
    link = f"{project.SITE_URL}/email-undo/{token}"
    emails.send_to(user, "email_changed", to=old_email, address=user.email, link=link)


def pending_undo(token: str) -> EmailChange:
    """The change that an undo link can still take back. NotFound otherwise."""
    change = EmailChange.objects.undoable().filter(undo_digest=opaque_digest(token)).first()
    if change is None:
        raise NotFound
    return change


def undo(*, token: str) -> str:
    """Gives the account its old address back and ends everything that was signed in or begun. Returns a token that lets
    its bearer choose a new first password.

    Later changes of the address are undone with it. So are a password, a second password and recovery
    codes set since, or shortly before the change began, because the same attacker may have set them; and a scheduled
    deletion, about which the old address got no mail.
    NotFound for a link that is used or too old.
    """
    change = pending_undo(token)
    with unit_of_work():
        user = User.objects.lock(change.user_id)
        now = timezone.now()
        since = EmailChange.objects.filter(user=user, undone_at=None, id__gte=change.id)
        if not since.filter(id=change.id).update(undone_at=now):
            raise NotFound
        since.update(undone_at=now)
        current_email = user.email
        displaced_id = _change_address(user, change.old_email)
        password.end_access(user_id=user.id, reason="email_change_undone")
        suspicious_from = change.created_at - timedelta(hours=conf.EMAIL_UNDO_HOURS_BEFORE)
        if user.password_changed_at is not None and user.password_changed_at >= suspicious_from:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        second_password.undo_changes(user=user, since=suspicious_from)
        if user.erase_after is not None:
            user.erase_after = None
            user.save(update_fields=["erase_after"])
            account_deletion_cancelled.send(User, user_id=user.id)
        if current_email != user.email:
            emails.send_to(user, "email_change_was_undone", to=current_email)
        emails.send_to(user, "email_change_undone")
        password_token = OneTimeToken.objects.issue(kind=OneTimeToken.Kind.PASSWORD, user=user)
    if displaced_id is not None:
        registration.remove_unconfirmed(displaced_id)
    return password_token


def _change_address(user: User, email: str) -> int | None:
    """Returns the id of the unconfirmed account that had the address; None without one. EmailTaken."""
    if user.email == email:
        return None
    codes.delete(Code.objects.unused().filter(Q(address=user.email) | Q(purpose=Code.Purpose.CHANGE_EMAIL), user=user))
    displaced_id = registration.give_up_address(email)
    if address_is_taken(email, asked_by=user.id):
        raise EmailTaken
    user.email = email
    try:
        with transaction.atomic():
            user.save(update_fields=["email"])
    except IntegrityError as error:
        raise EmailTaken from error
    profile_changed.send(User, user_id=user.id)
    return displaced_id
