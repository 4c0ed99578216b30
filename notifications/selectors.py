"""Queries that other apps may use: the feed as its owner sees it, preferences, the data export, and the delivery queue.

The feed leaves out users who block the owner or are blocked by the owner. The badge is polled and the feed is opened
often, so both are hand-written statements, the same for both databases.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.utils import timezone

from accounts import sql
from accounts.sql import PersonRow
from core.database.statements import as_parameter, is_any, moment, rows, rows_unprepared
from messaging.selectors import MESSAGE_UNREAD_COUNT
from notifications.models import ChannelPause, Delivery, Device, Notification, Preferences

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
LAST_MICROSECOND = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

_ROW = Notification._meta.db_table
# Notification.objects.visible_to() and unread() as SQL.
_OF_ONE = "n.recipient_id = %s"
_VISIBLE = sql.no_block_between("n.recipient_id", "n.actor_id")
_UNREAD = "n.is_read = false"
UNREAD_COUNT = f"SELECT COUNT(*) FROM {_ROW} n WHERE {_OF_ONE} AND {_VISIBLE} AND {_UNREAD}"
_SELECT = (
    "SELECT n.recipient_id, n.id, n.kind, n.is_read, n.target_id, n.target_title, n.count, n.created_at,"
    f" {sql.card('a')} FROM {_ROW} n JOIN {sql.USERS} a ON a.id = n.actor_id WHERE {_VISIBLE}"
)


@dataclass(frozen=True, slots=True)
class FeedRow:
    recipient_id: int
    id: int
    kind: str
    is_read: bool
    target_id: int | None
    target_title: str
    count: int
    created_at: datetime
    actor: PersonRow


def unread_count(user_id: int) -> int:
    """The number of unread notifications, as in the list, the badge and on the push."""
    return int(rows(UNREAD_COUNT, [user_id])[0][0])


def counts(user_id: int) -> dict[str, int]:
    """The badge: unread notifications and unread messages, under the keys of every reply. One query, because clients
    poll it."""
    of_feed, of_messages = rows(f"SELECT ({UNREAD_COUNT}), ({MESSAGE_UNREAD_COUNT})", [user_id, user_id])[0]
    return {"unread_count": of_feed, "message_unread_count": int(of_messages)}


def unread_counts(user_ids: Iterable[int]) -> dict[int, int]:
    """The same for several users, in one query; users without unread notifications are missing."""
    fetched = rows(
        f"SELECT n.recipient_id, COUNT(*) FROM {_ROW} n"
        f" WHERE {is_any('n.recipient_id')} AND {_VISIBLE} AND {_UNREAD} GROUP BY n.recipient_id",
        [as_parameter(set(user_ids))],
    )
    return dict(fetched)


def notifications_for_each(viewer_ids: Iterable[int], ids: Iterable[int]) -> dict[tuple[int, int], FeedRow]:
    """The notifications with these ids as their owners see them, by viewer and id; deleted ones are missing. One
    query."""
    distinct_ids = set(ids)
    if not distinct_ids:
        return {}
    fetched = rows(
        f"{_SELECT} AND {is_any('n.recipient_id')} AND {is_any('n.id')}",
        [as_parameter(set(viewer_ids)), as_parameter(distinct_ids)],
    )
    return {(row.recipient_id, row.id): row for row in map(_feed_row, fetched)}


def notifications_for(viewer_id: int, ids: Iterable[int]) -> dict[int, FeedRow]:
    """The same for one viewer, by id."""
    return {row_id: row for (_, row_id), row in notifications_for_each([viewer_id], ids).items()}


def feed_page(
    *,
    viewer_id: int,
    limit: int,
    offset: int = 0,
    after: tuple[int, int] | None = None,
    unread_only: bool = False,
) -> tuple[list[FeedRow], tuple[int, int] | None]:
    """`limit` notifications, latest first, from an offset or a position on, and the next position. One query.

    A position is the microsecond and the id of the last notification. It stays correct while others move to the top.
    """
    statement = f"{_SELECT} AND {_OF_ONE}"
    values: list[Any] = [viewer_id]
    if unread_only:
        statement += f" AND {_UNREAD}"
    if after is not None:
        statement += " AND (n.created_at, n.id) < (%s, %s)"
        microsecond, row_id = after
        created_at = _EPOCH + timedelta(microseconds=microsecond)
        values += [as_parameter(created_at), row_id]
    statement += " ORDER BY n.created_at DESC, n.id DESC LIMIT %s OFFSET %s"
    fetched = [_feed_row(columns) for columns in rows_unprepared(statement, [*values, limit + 1, offset])]
    last = fetched[limit - 1] if len(fetched) > limit else None
    return fetched[:limit], ((last.created_at - _EPOCH) // _MICROSECOND, last.id) if last else None


def _feed_row(columns: Sequence[Any]) -> FeedRow:
    recipient_id, row_id, kind, is_read, target_id, title, count, created_at, *actor = columns
    return FeedRow(
        recipient_id, row_id, kind, bool(is_read), target_id, title, count, moment(created_at), PersonRow(*actor)
    )


def preferences_of(user_id: int) -> Preferences:
    """The user's preferences; the unsaved defaults if the user has none."""
    return Preferences.objects.filter(user_id=user_id).first() or Preferences(user_id=user_id)


def quiet_ids(user_ids: Iterable[int]) -> set[int]:
    """The users whose calls are shown without ringing: quiet mode is on, or notifications are off."""
    quiet = Preferences.objects.filter(Q(quiet_mode=True) | Q(enabled=False), user_id__in=set(user_ids))
    return set(quiet.values_list("user_id", flat=True))


def delivery_lag_seconds() -> float:
    """How long the oldest due mail or push has been waiting; 0 when nothing waits."""
    now = timezone.now()
    # Webhooks wait for other people's servers and have a check of their own.
    ours = Delivery.objects.due(now).filter(channel__in=(Delivery.Channel.MAIL, Delivery.Channel.PUSH))
    oldest = ours.aggregate(at=Min("due_at"))["at"]
    return (now - oldest).total_seconds() if oldest else 0.0


def webhook_lags() -> dict[str, float]:
    """For each webhook target with due deliveries, how long the oldest one has been waiting, since its event."""
    now = timezone.now()
    due = Delivery.objects.due(now).filter(channel=Delivery.Channel.WEBHOOK)
    oldest = due.values_list("target").annotate(at=Min("created_at")).order_by()
    return {target: (now - at).total_seconds() for target, at in oldest}


def webhook_pauses() -> dict[str, str]:
    """The paused targets, with the reason."""
    prefix = f"{Delivery.Channel.WEBHOOK}:"
    paused = ChannelPause.objects.filter(channel__startswith=prefix).values_list("channel", "reason")
    return {channel.removeprefix(prefix): reason for channel, reason in paused}


def webhook_answers(target: str, limit: int) -> list[Delivery]:
    """The last finished deliveries of a target, the newest first."""
    rows = Delivery.objects.filter(channel=Delivery.Channel.WEBHOOK, target=target, finished_at__isnull=False)
    return list(rows.order_by("-finished_at")[:limit])


def webhooks_waiting(target: str) -> int:
    """How many deliveries wait for a target."""
    return Delivery.objects.pending().filter(channel=Delivery.Channel.WEBHOOK, target=target).count()


def deliveries_by_state() -> dict[tuple[str, str], int]:
    """Numbers of deliveries by channel and state."""
    rows = Delivery.objects.values_list("channel", "state").annotate(number=Count("id")).order_by()
    return {(channel, state): number for channel, state, number in rows}


def delivery_figures() -> dict[str, Any]:
    """Figures for operators: deliveries by channel and state, the lag, paused channels, devices."""
    deliveries: dict[str, dict[str, int]] = {
        str(channel): dict.fromkeys(Delivery.State.values, 0) for channel in Delivery.Channel.values
    }
    for (channel, state), number in deliveries_by_state().items():
        deliveries[channel][state] = number
    pauses = {
        pause.channel: {"reason": pause.reason, "since": pause.started_at, "until": pause.until}
        for pause in ChannelPause.objects.all()
    }
    return {
        "deliveries": deliveries,
        "oldest_due_seconds": round(delivery_lag_seconds(), 3),
        "paused": pauses,
        "devices": {"all": Device.objects.count(), "active": Device.objects.active().count()},
    }
