"""A new address: a code to the new one, and for a week a way back from the old one."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import EmailTaken, InvalidOtp, NotFound
from accounts.models import Code, EmailChange, PendingToken, User
from accounts.selectors import address_is_taken
from accounts.services import actions, codes, devices, pending_tokens, sessions
from accounts.signals import profile_changed
from accounts.tokens import new_opaque_token, opaque_digest
from accounts.unit_of_work import unit_of_work

PURPOSE = "change_email"


def start(*, user: User, granted: PendingToken, email: str) -> None:
    """Mails a code to the new address; the address of the account is still the old one. EmailTaken."""
    actions.count_try(granted)
    if address_is_taken(email, asked_by=user.id):
        raise EmailTaken
    now = timezone.now()
    with unit_of_work():
        actions.spend(granted)
        EmailChange.objects.filter(user=user, confirmed_at=None).delete()
        EmailChange.objects.create(
            user=user,
            old_email=user.email,
            new_email=email,
            created_at=now,
            expires_at=now + timedelta(minutes=conf.CODE_MINUTES),
        )
        code = codes.issue(user=user, purpose=PURPOSE, address=email)
        emails.send(PURPOSE, email, user.language, {"name": user.first_name, "code": code})


def verify(*, user: User, code: str, site: str) -> User:
    """The new address takes the place of the old one, which is told and gets a link to undo it.

    `site` is where the link points to ("https://chat.example.com"). InvalidOtp; EmailTaken when
    somebody else has registered the address in the meantime.
    """
    change = EmailChange.objects.filter(user=user, confirmed_at=None, expires_at__gt=timezone.now()).first()
    if change is None:
        raise InvalidOtp
    checked = codes.check(user=user, purpose=PURPOSE, address=change.new_email, text=code)
    token, digest = new_opaque_token()
    with unit_of_work():
        user = User.objects.select_for_update(no_key=True).get(id=user.id)
        codes.consume(checked)
        _move(user, change.new_email)
        now = timezone.now()
        change.confirmed_at = now
        change.undo_digest = digest
        change.expires_at = now + timedelta(days=conf.EMAIL_UNDO_DAYS)
        change.save(update_fields=["confirmed_at", "undo_digest", "expires_at"])
        link = f"{site}/email-undo/{token}"
        emails.send(
            "email_changed",
            change.old_email,
            user.language,
            {"name": user.first_name, "address": change.new_email, "link": link},
        )
    return user


def pending_undo(token: str) -> EmailChange:
    """The change that an undo link can still take back. NotFound otherwise."""
    change = EmailChange.objects.filter(
        undo_digest=opaque_digest(token), undone_at=None, expires_at__gt=timezone.now()
    ).first()
    if change is None:
        raise NotFound
    return change


def undo(*, token: str) -> User:
    """Gives the account its old address back and ends everything that was signed in or begun.

    Later changes of the address are undone with it. NotFound for a link that is used or too old.
    """
    change = pending_undo(token)
    with unit_of_work():
        user = User.objects.select_for_update(no_key=True).get(id=change.user_id)
        now = timezone.now()
        since = EmailChange.objects.filter(user=user, undone_at=None, id__gte=change.id)
        if not since.filter(id=change.id).update(undone_at=now):
            raise NotFound
        since.update(undone_at=now)
        _move(user, change.old_email)
        sessions.revoke_all(user_id=user.id, reason="email_change_undone")
        devices.forget_all(user_id=user.id)
        pending_tokens.end_all(user_id=user.id)
        codes.end_all(user_id=user.id)
        emails.send_to(user, "email_change_undone")
    return user


def _move(user: User, email: str) -> None:
    if user.email == email:
        return
    Code.objects.filter(Q(address=user.email) | Q(purpose=PURPOSE), user=user, used_at=None).delete()
    if address_is_taken(email, asked_by=user.id):
        raise EmailTaken
    user.email = email
    try:
        with transaction.atomic():
            user.save(update_fields=["email"])
    except IntegrityError as error:
        raise EmailTaken from error
    profile_changed.send(User, user_id=user.id)
