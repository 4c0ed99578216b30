"""Queries on users, blocks and sessions, also for other apps."""

import contextlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When
from django.utils import timezone

from accounts.exceptions import UserNotFound
from accounts.models import Block, EmailChange, Image, RecoveryCode, Session, TrustedDevice, User
from accounts.models.blocks import blocked_between
from accounts.text import folded_words, joined
from core.addresses import normalise_address, typed_address
from core.database.compiled import compiled


def users_by_ids(ids: Iterable[int]) -> dict[int, User]:
    """The users with these ids, in one query."""
    return User.objects.in_bulk(set(ids))


def managed_user(user_id: int) -> User | None:
    """The user, if the team's own server may see the account: not erased and not of staff."""
    return User.objects.managed().filter(id=user_id).first()


def existing_user_ids(ids: Iterable[int]) -> set[int]:
    """Which of these ids belong to an account that exists and is not erased."""
    return set(User.objects.not_erased().filter(id__in=set(ids)).values_list("id", flat=True))


def blockable_user(user_id: int) -> User:
    """A user that others can block: confirmed and not erased. UserNotFound otherwise."""
    return _get_user(User.objects.verified(), user_id)


def blocks_made_by(user_id: int) -> QuerySet[Block]:
    """The blocks made by a user with the blocked users, newest first.

    `card_is_hidden` marks users that search would not have shown to this user: they had blocked this user before, or
    cannot be contacted now. Blocking must not reveal them.
    """
    had_blocked = Block.objects.filter(
        blocker_id=OuterRef("blocked_id"), blocked_id=OuterRef("blocker_id"), id__lt=OuterRef("id")
    )
    hidden = Exists(had_blocked) | ~Exists(User.objects.contactable().filter(id=OuterRef("blocked_id")))
    blocks = Block.objects.filter(blocker_id=user_id).select_related("blocked")
    return blocks.annotate(card_is_hidden=Case(When(hidden, then=True), default=False)).order_by("-id")


def blocks_page(
    user_id: int, *, limit: int, cursor: tuple[int, int] | None
) -> tuple[list[Block], tuple[int, int] | None]:
    """A page of `blocks_made_by`, and the position of the next one; None at the end."""
    blocks = blocks_made_by(user_id)
    if cursor is not None:
        blocks = blocks.filter(id__lt=cursor[1])
    rows = list(blocks[: limit + 1])
    return rows[:limit], (0, rows[limit - 1].id) if len(rows) > limit else None


def signed_in_sessions() -> QuerySet[Session]:
    """For a query of another app: the sessions whose token is still valid."""
    return Session.objects.signed_in()


def sessions_of(user_id: int) -> list[Session]:
    """A user's sessions whose token is still valid, the last used first."""
    return list(Session.objects.signed_in().filter(user_id=user_id).order_by("-last_used_at", "-id"))


def live_devices(user_id: int) -> list[TrustedDevice]:
    """Devices that may skip the second step, the last used first."""
    return list(TrustedDevice.objects.live().filter(user_id=user_id).order_by("-last_used_at", "-id"))


class SecurityChange(NamedTuple):
    type: str
    created_at: datetime


# The address can be changed often within the time that its changes are kept.
MAX_SECURITY_CHANGES = 50


def security_changes(user: User) -> list[SecurityChange]:
    """When the password, the address and two-step verification of an account were changed, newest first.

    Of the password, the second password and the recovery codes it is the last change; of the address, those that are not
    yet purged.
    """
    # One undo takes back several changes of the address at one time.
    changes: set[SecurityChange] = set()

    def add(type_: str, at: datetime | None) -> None:
        if at is not None:
            changes.add(SecurityChange(type_, at))

    second_at = user.second_password_changed_at
    add("password_changed", user.password_changed_at)
    add("two_step_set" if user.two_step_enabled else "two_step_disabled", second_at)
    # The first codes come with the second password.
    codes = RecoveryCode.objects.filter(user_id=user.id).order_by("-created_at").values_list("created_at", flat=True)
    if (made_at := codes.first()) != second_at:
        add("recovery_codes_made", made_at)
    addresses = EmailChange.objects.filter(user_id=user.id, confirmed_at__isnull=False).order_by("-id")
    for address in addresses[:MAX_SECURITY_CHANGES]:
        add("email_changed", address.confirmed_at)
        add("email_change_undone", address.undone_at)
    return sorted(changes, key=lambda change: change.created_at, reverse=True)[:MAX_SECURITY_CHANGES]


def address_is_taken(email: str, *, asked_by: int | None = None, confirmed: bool = False) -> bool:
    """Whether the address is registered, or reserved for a user who may still undo a change away from it. With `confirmed`
    only accounts count that have confirmed it, and accounts of staff."""
    reserved = EmailChange.objects.undoable().filter(old_email=email).exclude(user_id=asked_by)
    registered = User.objects.filter(email=email)
    if confirmed:
        registered = registered.exclude(email_verified_at=None, is_staff=False)
    return registered.exists() or reserved.exists()


def blocked_either_way(a_id: int, b_id: int) -> bool:
    """Whether one of the two has blocked the other."""
    return Block.objects.between(a_id, [b_id]).exists()


def ids_blocked_either_way(user_id: int, among: Iterable[int]) -> set[int]:
    """The ids in `among` that the user has blocked, or that have blocked the user."""
    pairs = Block.objects.between(user_id, set(among)).values_list("blocker_id", "blocked_id")
    return {other for pair in pairs for other in pair if other != user_id}


def contactable_user(user_id: int) -> User:
    """A user that others can contact: confirmed, no deletion scheduled, not blocked by staff. UserNotFound."""
    return _get_user(User.objects.contactable(), user_id)


def image_by_token(token: str) -> Image | None:
    if not token.isascii() or not token.isprintable():
        return None  # PostgreSQL refuses a NUL in a text
    return Image.objects.filter(token=token[:32]).first()


def message_images() -> QuerySet[Image]:
    """For a query of another app: the images uploaded for messages."""
    return Image.objects.filter(kind=Image.Kind.MESSAGE)


def search_people(viewer: User, q: str, limit: int) -> list[User]:
    """Users whose username, first or last name, or both names in either order begin with `q`, compared as folded.

    The exact username comes first, then usernames, names, and names with the family name first, in their order. Each list
    is read from its index no further than `limit`, however many users there are.
    """
    if limit < 1:
        return []
    others = User.objects.contactable().exclude(id=viewer.id).exclude(blocked_between(viewer.id, OuterRef("id")))
    people: dict[int, User] = {}
    for matching, order in name_matches(q):
        if len(people) < limit:
            for user in others.filter(matching).order_by(order, "id")[:limit]:
                people.setdefault(user.id, user)
    return list(people.values())[:limit]


def person_seen_by(viewer: User, user_id: int) -> User:
    """A user whom the search would show to the viewer, or the viewer. UserNotFound otherwise."""
    return _get_user(User.objects.contactable().exclude(blocked_between(viewer.id, OuterRef("id"))), user_id)


def has_address(text: str) -> Q:
    """Users with this e-mail address, also when it is written with a domain of other letters."""
    matching = Q(email=typed_address(text))
    with contextlib.suppress(ValueError):  # only the beginning of an address, or none at all
        matching |= Q(email=normalise_address(text))
    return matching


def _get_user(users: QuerySet[User], user_id: int) -> User:
    user = users.filter(id=user_id).first()
    if user is None:
        raise UserNotFound
    return user


def name_matches(text: str) -> Iterator[tuple[Q, str]]:
    """Users whose names begin with this text: one condition for each column that is asked, with the order its index serves.

    A text without a space may be both names in one word, as Chinese and Japanese names are written. One with a comma
    ("Nagy, Anna") is compared without what stands between the names. An @ before a username is not part of it.
    """
    folded = folded_words(text).removeprefix("@").lstrip()
    if not folded:
        return
    yield _starts_with("username_folded", folded), "username_folded"
    if " " in folded and "," not in folded:
        columns = ("name_folded", "family_first_folded")
    else:
        folded, columns = joined(folded), ("name_joined", "family_first_joined")
    for column in columns:
        if folded:
            yield _starts_with(column, folded), column


def _starts_with(column: str, text: str) -> Q:
    """A prefix as a range, which an index serves on both databases; no character is a wildcard."""
    return Q(**{f"{column}__gte": text, f"{column}__lt": text + "\U0010ffff"})


def active_verified_sessions(session_ids: Iterable[int]) -> dict[int, int]:
    """Which of these sessions are valid and belong to confirmed, unblocked users: session id to user id.

    One query: it checks a batch of socket commands.
    """
    return dict(_active_verified_sessions(set(session_ids), timezone.now()))


@compiled
def _active_verified_sessions(session_ids: set[int], now: datetime) -> QuerySet[Session, tuple[int, int]]:
    verified = User.objects.verified().active(now)
    return Session.objects.live(now).filter(id__any=session_ids, user__in=verified).values_list("id", "user_id")
