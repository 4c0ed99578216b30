"""The event log: one gapless list of changes per user, in commit order.

`append` only collects events; the unit of work passes them to one flush right before it commits. The
flush locks the streams of all users concerned in ascending order, which prevents deadlocks, and keeps
the locks until commit, so that no number becomes visible after a higher one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone
from prometheus_client import Histogram

from core.database.compiled import compiled
from core.database.statements import as_parameter, is_any, on_postgresql, rows
from core.database.transactions import collect, unit_of_work
from realtime import wakeups
from realtime.conf import conf
from realtime.models import Event, Stream, new_epoch

# A new epoch advances the numbers by more than any log grew between backup and restore. An open socket, whose last
# number may be missing after the restore, is then behind the new log and reloads.
EPOCH_JUMP = 1_000_000

# A pending event that requests the deletion of all events of its user.
_FORGET = "forget"


MAX_INLINE_EVENTS = 4
# How many of the oldest events a round of pruning checks for their age.
PRUNE_SCAN = 10_000


# For /metrics of this process; observed by the sockets' readers.
DELIVERY_SECONDS = Histogram(
    "parley_event_delivery_seconds",
    "From the change to the frame on an open socket.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)


class Position(NamedTuple):
    epoch: str
    head_seq: int
    min_seq: int

    def reset_reason(self, seq: int, epoch: str | None = None) -> str | None:
        """The reason why a client with the events up to `seq` of `epoch` has to reload; None if the next events are
        available."""
        if epoch is not None and epoch != self.epoch:
            return "epoch"
        if seq < self.min_seq:
            return "too_old"
        return "ahead" if seq > self.head_seq else None


class PendingEvent(NamedTuple):
    user_id: int
    type: str
    conversation_id: int | None
    object_id: int | None
    extra: str | None
    # Sent with the wake-up, but not stored.
    data: dict[str, Any] | None = None


# The columns of a pending event, with the number of later ones of its user.
Numbered = tuple[Any, ...]


def append(
    *,
    user_id: int,
    type: str,
    conversation_id: int | None = None,
    object_id: int | None = None,
    extra: dict[str, Any] | None = None,
    data: dict[str, Any] | None = None,
) -> None:
    """Adds an event for a user, numbered when the open unit of work commits.

    RuntimeError outside of a unit of work. `extra` is data that cannot be read from the objects later. `data` is the
    event's data as this user sees it now, so that a socket that is up to date need not read it.
    """
    packed = None if extra is None else json.dumps(extra, separators=(",", ":"))
    collect(_flush, PendingEvent(user_id, type, conversation_id, object_id, packed, data))


def position(user_id: int) -> Position:
    """The position of a user's log; the first call creates the log."""
    return positions([user_id])[0]


def positions(user_ids: Sequence[int]) -> list[Position]:
    """The positions of these users' logs, in the order of the users; the first call for a user creates the log."""
    by_user = _positions(user_ids)
    missing = set(user_ids) - by_user.keys()
    if missing:
        with unit_of_work():
            _create_streams(missing)
        by_user = _positions(user_ids)
    return [by_user[user_id] for user_id in user_ids]


def start_new_epoch(user_ids: Iterable[int] | None) -> int:
    """Makes every client of these users (None: of all users) reload, as after a restore. Returns the number of
    users."""
    streams = Stream.objects.all() if user_ids is None else Stream.objects.filter(user_id__in=list(user_ids))
    messages: list[wakeups.Message] = []
    with unit_of_work():
        for stream in streams.select_for_update().order_by("user_id"):
            stream.epoch = new_epoch()
            stream.head_seq = stream.min_seq = stream.head_seq + EPOCH_JUMP
            stream.save()
            Event.objects.filter(user_id=stream.user_id).delete()
            messages.append(wakeups.NewEvents(type="new_events", user_id=stream.user_id, seq=stream.head_seq))
        transaction.on_commit(lambda: wakeups.publish(messages), robust=True)
    return len(messages)


def forget(*, user_id: int) -> None:
    """Deletes a user's events when the account is erased. The flush does it, because it locks in order."""
    collect(_flush, PendingEvent(user_id, _FORGET, None, None, None))


def _delete_events(user_ids: Iterable[int]) -> None:
    for user_id in sorted(set(user_ids)):
        Event.objects.filter(user_id=user_id).delete()
        Stream.objects.filter(user_id=user_id).update(epoch=new_epoch(), min_seq=F("head_seq"))


def prune(*, now: datetime, batch: int) -> int:
    """Deletes events older than 14 days or beyond the newest 5000 of a user: at most about `batch`
    events. Returns how many; call again while that is not 0.

    One user per transaction: the lowest available number is raised in the same commit, so that a client
    either gets the events or has to reload.
    """
    too_old = now - timedelta(days=conf.EVENTS_KEPT_DAYS)
    # A lower id means an older event, so the primary key replaces an index of times. Where clocks differ, times are not
    # exactly in order.
    oldest = Event.objects.order_by("id").values_list("user_id", "created_at")[: max(batch, PRUNE_SCAN)]
    aged = [user_id for user_id, created_at in oldest.iterator() if created_at < too_old][:batch]
    oversized = Stream.objects.filter(head_seq__gt=F("min_seq") + conf.EVENTS_KEPT).values_list("user_id", flat=True)
    deleted = 0
    for user_id in sorted({*aged, *oversized[:batch]}):
        if deleted >= batch:
            break
        deleted += _prune_one(user_id, too_old, batch - deleted)
    return deleted


def _prune_one(user_id: int, too_old: datetime, batch: int) -> int:
    with unit_of_work():
        stream = Stream.objects.select_for_update().filter(user_id=user_id).first()
        if stream is None:
            return 0
        events = Event.objects.filter(user_id=user_id)
        last_old = events.filter(created_at__lt=too_old).aggregate(last=Max("seq"))["last"] or 0
        upto = min(max(last_old, stream.head_seq - conf.EVENTS_KEPT), stream.min_seq + batch)
        if upto <= stream.min_seq:
            return 0
        Stream.objects.filter(user_id=user_id).update(min_seq=upto)
        return events.filter(seq__lte=upto).delete()[0]


def _positions(user_ids: Sequence[int]) -> dict[int, Position]:
    return {user_id: Position(epoch, head, low) for user_id, epoch, head, low in _streams(list(user_ids))}


@compiled
def _streams(user_ids: list[int]) -> QuerySet[Stream, tuple[int, str, int, int]]:
    return Stream.objects.filter(user__id__any=user_ids).values_list("user_id", "epoch", "head_seq", "min_seq")


def _create_streams(user_ids: Iterable[int]) -> None:
    Stream.objects.bulk_create([Stream(user_id=user_id) for user_id in sorted(user_ids)], ignore_conflicts=True)


def _flush(events: list[PendingEvent]) -> None:
    """Numbers and writes all events of a unit of work, and wakes their readers once it is committed."""
    now = timezone.now()
    counts = Counter(event.user_id for event in events)
    numbered = _numbered(events, counts)
    write = _write_postgresql if on_postgresql() else _write_sqlite
    heads = write(counts, numbered, now)
    if not heads:
        # This is a user's first event, or one of an account that this transaction deletes. Nothing is locked yet, so
        # creating streams does not violate the lock order.
        existing_ids = set(get_user_model().objects.filter(id__in=counts).values_list("id", flat=True))
        if existing_ids:
            _create_streams(existing_ids)
            _flush([event for event in events if event.user_id in existing_ids])
        return
    _delete_events(event.user_id for event in events if event.type == _FORGET)
    messages = {
        user_id: wakeups.NewEvents(type="new_events", user_id=user_id, seq=head, events=[])
        for user_id, head in heads.items()
    }
    at = now.isoformat()
    for event, (user_id, later, *columns) in zip(events, numbered, strict=True):
        message = messages[user_id]
        seq = message["seq"] - later
        # A few events are sent with the wake-up, so that a socket that is up to date need not read them.
        if counts[user_id] <= MAX_INLINE_EVENTS:
            message["events"].append([seq, *columns, at])
        # At most one new message is sent as well, after the number of its event. A later event about the conversation
        # may have changed the message; then it has to be read.
        if event.data is not None:
            message["copy"] = [seq, event.data]
        elif event.conversation_id is not None:
            message.pop("copy", None)
    # Not a partial: Django logs the name of a robust function that failed, and a partial has none.
    transaction.on_commit(lambda: wakeups.publish(messages.values()), robust=True)


def _numbered(events: Sequence[PendingEvent], counts: Counter[int]) -> list[Numbered]:
    """Numbers the events of each user back from the last one, which is 0."""
    left = counts.copy()
    numbered = []
    for user_id, *columns, _data in events:
        left[user_id] -= 1
        numbered.append((user_id, left[user_id], *columns))
    return numbered


# One statement: the count is taken without a lock, so that nothing is locked unless all streams exist.
_POSTGRESQL = """
WITH pending AS (
    SELECT * FROM json_to_recordset(%s::json)
        AS l (user_id bigint, later int, type text, conversation_id bigint, object_id bigint, extra text)
), wanted AS (
    SELECT user_id, count(*) AS n FROM pending GROUP BY user_id
), locked AS (
    SELECT s.user_id FROM realtime_stream s
    WHERE s.user_id = ANY(%s::bigint[])
      AND (SELECT count(*) FROM realtime_stream WHERE user_id = ANY(%s::bigint[])) = %s
    ORDER BY s.user_id FOR UPDATE
), moved AS (
    UPDATE realtime_stream s SET head_seq = s.head_seq + w.n
    FROM locked JOIN wanted w ON w.user_id = locked.user_id
    WHERE s.user_id = locked.user_id
    RETURNING s.user_id, s.head_seq
), written AS (
    INSERT INTO realtime_event (user_id, seq, type, conversation_id, object_id, extra, created_at)
    SELECT l.user_id, m.head_seq - l.later, l.type, l.conversation_id, l.object_id, l.extra::jsonb, %s
    FROM pending l JOIN moved m ON m.user_id = l.user_id
)
SELECT user_id, head_seq FROM moved
"""
_COLUMNS = ("user_id", "later", "type", "conversation_id", "object_id", "extra")


def _write_postgresql(counts: Counter[int], numbered: Sequence[Numbered], now: datetime) -> dict[int, int]:
    """Returns the new heads. When a stream is missing, writes nothing and returns none."""
    # Passed as text, because the driver takes as long as a short statement to turn lists into arrays.
    pending = json.dumps([dict(zip(_COLUMNS, event, strict=True)) for event in numbered])
    user_ids = as_parameter(list(counts))
    return dict(rows(_POSTGRESQL, [pending, user_ids, user_ids, len(counts), now]))


def _write_sqlite(counts: Counter[int], numbered: Sequence[Numbered], now: datetime) -> dict[int, int]:
    """The same for SQLite, where BEGIN IMMEDIATE has already locked the whole file."""
    at = as_parameter(now)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE realtime_stream SET head_seq = head_seq + json_each.value FROM json_each(%s)"
            " WHERE user_id = json_each.key"
            f" AND (SELECT count(*) FROM realtime_stream WHERE {is_any('user_id')}) = %s"
            " RETURNING user_id, head_seq",
            [json.dumps(counts), as_parameter(list(counts)), len(counts)],
        )
        heads: dict[int, int] = dict(cursor.fetchall())
        if not heads:
            return heads
        cursor.executemany(
            "INSERT INTO realtime_event (user_id, seq, type, conversation_id, object_id, extra, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(user_id, heads[user_id] - later, *columns, at) for user_id, later, *columns in numbered],
        )
    return heads
