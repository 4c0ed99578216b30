"""The feed as its owner sees it: nothing of people with whom there is a block."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet

from accounts.selectors import block_between
from notifications.models import Notification, Preferences
from notifications.pagination import Position
from notifications.serializers.feed import notification_json


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Notification]
    has_more: bool


def visible(rows: QuerySet[Notification], viewer_id: int) -> QuerySet[Notification]:
    """Those of the viewer's own rows whose actor they may hear of."""
    return rows.filter(recipient_id=viewer_id).exclude(block_between(viewer_id, OuterRef("actor_id")))


def unread_count(user_id: int) -> int:
    """Unread rows: the number in the list, the badge and on the push."""
    return visible(Notification.objects.filter(is_read=False), user_id).count()


def unread_counts(user_ids: Iterable[int]) -> dict[int, int]:
    """The same for several people, in one query; who has nothing unread is missing."""
    unread = Notification.objects.filter(recipient_id__in=set(user_ids), is_read=False)
    heard = unread.exclude(block_between(OuterRef("recipient_id"), OuterRef("actor_id")))
    return dict(heard.values_list("recipient_id").annotate(number=Count("id")).order_by())


def notifications_for(viewer_id: int, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The viewer's rows of these ids as they are now, rendered; one that is gone is missing. One query."""
    rows = Notification.objects.filter(id__in=set(ids)).select_related("actor")
    return {row.id: notification_json(row) for row in visible(rows, viewer_id)}


def feed_page(
    *,
    viewer_id: int,
    limit: int,
    offset: int = 0,
    after: Position | None = None,
    unread_only: bool = False,
) -> Page:
    """`limit` rows, latest first, `offset` rows or a position further down. One query."""
    rows = visible(Notification.objects.select_related("actor"), viewer_id)
    if unread_only:
        rows = rows.filter(is_read=False)
    if after is not None:
        rows = rows.filter(
            Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id),
            # The same once more in a form that bounds the index.
            created_at__lte=after.created_at,
        )
    found = list(rows.order_by("-created_at", "-id")[offset : offset + limit + 1])
    return Page(rows=found[:limit], has_more=len(found) > limit)


def preferences_of(user_id: int) -> Preferences:
    """The person's choices; the defaults, unsaved, for one who never chose."""
    return Preferences.objects.filter(user_id=user_id).first() or Preferences(user_id=user_id)
