"""The profile and the privacy settings of a user, and the blocks between users."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework.exceptions import ValidationError

from accounts import text
from accounts.conf import USERNAME_LENGTHS, conf
from accounts.exceptions import EmailNotVerified, UsernameTaken, UserNotFound
from accounts.models import Block, User
from accounts.selectors import blockable_user, blocks_made_by
from accounts.signals import block_changed, presence_visibility_changed, profile_changed, settings_reset
from core.api.exceptions import ApiError
from core.database.transactions import unit_of_work

PRIVACY = ("who_can_message", "read_receipts", "show_last_seen", "relay_calls")


def update(*, user: User, **changes: Any) -> User:
    """Changes some of username, first_name, last_name, bio and language (already cleaned).

    UsernameTaken; ValidationError on `username` for a bad one or a second change within 30 days;
    EmailNotVerified for a username before the address is confirmed.
    """
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        changed = {name: value for name, value in changes.items() if getattr(user, name) != value}
        if not changed:
            return user
        if "username" in changed:
            _check_username(user, changed["username"])
            changed["username_changed_at"] = timezone.now()
        store(user=user, changed=changed, taken=UsernameTaken)
    return user


def store(*, user: User, changed: Mapping[str, Any], taken: type[ApiError]) -> None:
    """Stores and announces new values of a locked user, in the caller's unit of work. `taken` if a unique one is in use."""
    for name, value in changed.items():
        setattr(user, name, value)
    try:
        with transaction.atomic():
            user.save(update_fields=list(changed))
    except IntegrityError as error:
        raise taken from error
    profile_changed.send(User, user_id=user.id)


def set_privacy(*, user: User, **changes: Any) -> User:
    """Changes some of who_can_message, read_receipts, show_last_seen and relay_calls."""
    with unit_of_work():
        user = User.objects.lock_active(user.id)
        was_shown = user.show_last_seen
        for name, value in changes.items():
            setattr(user, name, value)
        user.save(update_fields=list(changes))
        if user.show_last_seen != was_shown:
            presence_visibility_changed.send(User, user=user)
    return user


def start_over(user: User, *, first_name: str, last_name: str, language: str) -> None:
    """Gives an unconfirmed account the names of the person who has proved its address. Resets bio, username, privacy, and
    the settings of other apps. Part of the caller's unit of work, which has locked the account."""
    was_shown = user.show_last_seen
    user.first_name, user.last_name, user.language, user.bio = first_name, last_name, language, None
    user.username_changed_at = None
    default = User()
    for name in PRIVACY:
        setattr(user, name, getattr(default, name))
    User.objects.rename(user)
    user.save(update_fields=["last_name", "language", "bio", "username_changed_at", *PRIVACY])
    settings_reset.send(User, user_id=user.id)
    if user.show_last_seen != was_shown:
        presence_visibility_changed.send(User, user=user)


def _check_username(user: User, username: str) -> None:
    if not user.has_verified_email:
        raise EmailNotVerified
    if not text.FORM.fullmatch(username):
        least, most = USERNAME_LENGTHS
        sentence = _("Use %(least)d to %(most)d letters (a to z), digits and underscores.")
        raise _invalid_username(sentence % {"least": least, "most": most})
    if text.is_reserved(username):
        raise _invalid_username(_("This username is reserved."))
    last = user.username_changed_at
    if last is not None and timezone.now() - last < timedelta(days=conf.USERNAME_DAYS):
        sentence = ngettext(
            "You can change your username once in %(days)d day.",
            "You can change your username once in %(days)d days.",
            conf.USERNAME_DAYS,
        )
        raise _invalid_username(sentence % {"days": conf.USERNAME_DAYS})
    if User.objects.filter(username__iexact=username).exclude(id=user.id).exists():
        raise UsernameTaken


def _invalid_username(sentence: str) -> ValidationError:
    return ValidationError({"username": [sentence]})


def record_last_seen(*, user_ids: Iterable[int], at: datetime) -> None:
    """Stores that the users were online until `at`, if that is later than before. The real-time channel reports it."""
    ids = set(user_ids)
    earlier = User.objects.exclude(last_seen_at__gt=at)
    with unit_of_work():
        users = User.objects.filter(id__in=ids)
        free_ids = set(users.select_for_update(no_key=True, skip_locked=True).values_list("id", flat=True))
        earlier.filter(id__in=free_ids).update(last_seen_at=at)
    # Others have locked the rest, for example an erasure. Each is waited for while no other account is locked.
    for user_id in sorted(ids - free_ids):
        earlier.filter(id=user_id).update(last_seen_at=at)


def block(*, blocker: User, blocked_id: int) -> Block:
    """Blocks a user. A second call changes nothing.

    Returns the block as `selectors.blocks_made_by` reads it. UserNotFound for an unconfirmed or erased user;
    ValidationError on `user_id` for the actor.
    """
    if blocked_id == blocker.id:
        raise ValidationError({"user_id": [_("You cannot block yourself.")]})
    with unit_of_work():
        # Locked: one change of this user's blocks at a time.
        User.objects.lock_active(blocker.id)
        blocked = blockable_user(blocked_id)
        row, created = Block.objects.get_or_create(blocker=blocker, blocked=blocked)
        if created:
            block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked.id, blocked=True)
        return blocks_made_by(blocker.id).get(id=row.id)


def unblock(*, blocker: User, blocked_id: int | None) -> None:
    """Removes a block. UserNotFound when the user is not blocked."""
    with unit_of_work():
        User.objects.lock_active(blocker.id)
        removed, _rows = Block.objects.filter(blocker=blocker, blocked_id=blocked_id).delete()
        if not removed:
            raise UserNotFound
        block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked_id, blocked=False)
