"""Reads that other apps may use."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Exists, Q

from accounts.models import Block, User


def users_by_ids(ids: Iterable[int]) -> dict[int, User]:
    """The people of these ids, in one query."""
    return {user.id: user for user in User.objects.filter(id__in=set(ids))}


def blocked_either_way(a_id: int, b_id: int) -> bool:
    """One of the two has blocked the other."""
    pair = Q(blocker_id=a_id, blocked_id=b_id) | Q(blocker_id=b_id, blocked_id=a_id)
    return Block.objects.filter(pair).exists()


def ids_blocked_either_way(user_id: int, among: Iterable[int]) -> set[int]:
    """Those of `among` that the person has blocked, or who have blocked the person."""
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
