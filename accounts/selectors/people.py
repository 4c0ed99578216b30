"""Queries on users and blocks that other apps may use."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When
from django.utils import timezone

from accounts.exceptions import UserNotFound
from accounts.models import Block, EmailChange, Session, TrustedDevice, User
from core.text import fold


def users_by_ids(ids: Iterable[int]) -> dict[int, User]:
    """The users with these ids, in one query."""
    return {user.id: user for user in User.objects.filter(id__in=set(ids))}


def blockable_user(user_id: int) -> User:
    """A user that others can block: confirmed and not erased. UserNotFound otherwise."""
    user = User.objects.filter(id=user_id, email_verified_at__isnull=False).first()
    if user is None:
        raise UserNotFound
    return user


def blocks_made_by(user_id: int) -> QuerySet[Block]:
    """The blocks made by a user with the blocked users, newest first.

    `card_is_hidden` marks users that search would not have shown to this user: they had blocked this user before, or
    cannot be contacted now. Blocking must not reveal them.
    """
    had_blocked = Block.objects.filter(
        blocker_id=OuterRef("blocked_id"), blocked_id=OuterRef("blocker_id"), id__lt=OuterRef("id")
    )
    hidden = Exists(had_blocked) | ~_is_contactable("blocked__")
    made = Block.objects.filter(blocker_id=user_id).select_related("blocked")
    return made.annotate(card_is_hidden=Case(When(hidden, then=True), default=False)).order_by("-id")


def blocks_page(user_id: int, *, limit: int, cursor: tuple[int, int] | None) -> tuple[list[Block], int | None]:
    """A page of `blocks_made_by`, and the id of its last row when there are more."""
    made = blocks_made_by(user_id)
    if cursor is not None:
        made = made.filter(id__lt=cursor[1])
    rows = list(made[: limit + 1])
    return rows[:limit], rows[limit - 1].id if len(rows) > limit else None


def live_sessions(user_id: int) -> list[Session]:
    """Sessions whose token is still valid, the last used first."""
    now = timezone.now()
    live = Session.objects.filter(user_id=user_id, ended_at=None, expires_at__gt=now, token_expires_at__gt=now)
    return list(live.order_by("-last_used_at", "-id"))


def live_devices(user_id: int) -> list[TrustedDevice]:
    """Devices that may skip the second step, the last used first."""
    live = TrustedDevice.objects.filter(user_id=user_id, expires_at__gt=timezone.now())
    return list(live.order_by("-last_used_at", "-id"))


def address_is_taken(email: str, *, asked_by: int | None = None) -> bool:
    """Registered, or reserved for another user who may still undo a change away from it."""
    if User.objects.filter(email=email).exists():
        return True
    left = EmailChange.objects.filter(
        old_email=email, confirmed_at__isnull=False, undone_at=None, expires_at__gt=timezone.now()
    )
    return left.exclude(user_id=asked_by).exists() if asked_by else left.exists()


def blocked_either_way(a_id: int, b_id: int) -> bool:
    """One of the two has blocked the other."""
    pair = Q(blocker_id=a_id, blocked_id=b_id) | Q(blocker_id=b_id, blocked_id=a_id)
    return Block.objects.filter(pair).exists()


def ids_blocked_either_way(user_id: int, among: Iterable[int]) -> set[int]:
    """The ids in `among` that the user has blocked, or that have blocked the user."""
    others = set(among)
    pairs = Block.objects.filter(
        Q(blocker_id=user_id, blocked_id__in=others) | Q(blocked_id=user_id, blocker_id__in=others)
    ).values_list("blocker_id", "blocked_id")
    return {other for pair in pairs for other in pair if other != user_id}


def block_between(person: Any, other: Any) -> Q:
    """For a query of another app: one of the two has blocked the other. Each is an id or an OuterRef."""
    return Q(Exists(Block.objects.filter(blocker_id=person, blocked_id=other))) | Q(
        Exists(Block.objects.filter(blocker_id=other, blocked_id=person))
    )


def blocked_by_staff(now: datetime, prefix: str = "") -> Q:
    """For a query of another app: the account is blocked at `now`; `prefix` leads to it ("recipient__")."""
    return Q(**{f"{prefix}blocked_at__isnull": False}) & (
        Q(**{f"{prefix}blocked_until__isnull": True}) | Q(**{f"{prefix}blocked_until__gt": now})
    )


def user_by_id(user_id: int) -> User:
    """The user with this id, whatever the account status. UserNotFound."""
    user = User.objects.filter(id=user_id).first()
    if user is None:
        raise UserNotFound
    return user


def contactable_user(user_id: int) -> User:
    """A user that others can contact: confirmed, no deletion scheduled, not blocked by staff. UserNotFound."""
    user = _contactable().filter(id=user_id).first()
    if user is None:
        raise UserNotFound
    return user


def search_people(viewer: User, q: str, limit: int) -> list[User]:
    """Users whose username, first or last name begins with `q`, ignoring case and accents.

    The exact username comes first, then usernames, first names, full names and last names in their
    order. Each list is read from its index no further than `limit`, however many users there are.
    """
    wanted = fold(q.strip().removeprefix("@"))
    if not wanted or limit < 1:
        return []
    others = _contactable().exclude(id=viewer.id).exclude(block_between(viewer.id, OuterRef("id")))
    found: dict[int, User] = {}
    for matching, order in _matches(wanted):
        if len(found) < limit:
            for user in others.filter(matching).order_by(*order, "id")[:limit]:
                found.setdefault(user.id, user)
    return list(found.values())[:limit]


def _contactable() -> QuerySet[User]:
    return User.objects.filter(_is_contactable())


def _is_contactable(prefix: str = "") -> Q:
    """Confirmed, no deletion scheduled, not blocked by staff; `prefix` leads to the account ("blocked__")."""
    confirmed = Q(**{f"{prefix}email_verified_at__isnull": False, f"{prefix}erase_after__isnull": True})
    return confirmed & ~blocked_by_staff(timezone.now(), prefix)


def _matches(wanted: str) -> Iterator[tuple[Q, tuple[str, ...]]]:
    yield _begins("username_folded", wanted), ("username_folded",)
    yield _begins("first_name_folded", wanted), ("first_name_folded", "last_name_folded")
    words = wanted.split(" ")
    for cut in range(1, min(len(words), 4)):
        first, last = " ".join(words[:cut]), " ".join(words[cut:])
        yield Q(first_name_folded=first) & _begins("last_name_folded", last), ("last_name_folded",)
    yield _begins("last_name_folded", wanted), ("last_name_folded", "first_name_folded")


def _begins(column: str, text: str) -> Q:
    """A prefix as a range: an index serves it on both databases, and no character is a wildcard."""
    return Q(**{f"{column}__gte": text, f"{column}__lt": text + "\U0010ffff"})
