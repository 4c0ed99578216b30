"""Open sockets of all processes: counts per user, acknowledgements, and which sockets must close."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from core.conf import project
from core.database.statements import as_parameter, prepared, rows
from core.database.transactions import unit_of_work
from messaging.selectors import conversations_for
from messaging.services import conversations
from notifications.services.delivery import SocketStatus, SocketStatusQuery
from realtime import wakeups
from realtime.close_codes import Close
from realtime.conf import conf
from realtime.devices import Device
from realtime.models import CallParticipant, Event, Socket, Stream, alive_since
from realtime.services import event_log

UNIT_OF_WORK_DURATION = timedelta(seconds=0.5)
# The most sockets that one call purges.
PURGED = 100


def sweep_seconds() -> float:
    """How often a process compares its sockets with the database."""
    return conf.SWEEP_SECONDS if project.REDIS_URL else conf.SWEEP_SECONDS_EMBEDDED


class Opened(NamedTuple):
    """The state when a socket opened."""

    # Of two concurrent sockets the earlier one is the first.
    is_first: bool
    in_call: bool
    position: event_log.Position


# Sockets are rows, so that limits and presence apply across all processes: docs/decisions/real-time.md#0049
def opened(device: Device) -> Opened:
    """Records a new socket. Above the limit, the oldest sockets of that user are closed.

    Two hand-written statements: after a restart all clients reconnect at once.
    """
    fetched = _record_and_read(device)
    others = [(other_id, is_later) for *_, other_id, is_later in fetched if other_id is not None]
    epoch, head_seq, min_seq, in_call, *_ = fetched[0]
    excess_ids = [other_id for other_id, _ in others[max(0, conf.SOCKETS_PER_USER - 1) :]]
    if excess_ids:
        # Their rows are deleted at once: the next new socket must not count them again.
        with unit_of_work():
            Socket.objects.filter(id__in=excess_ids).delete()
            message = wakeups.TooManySockets(type="too_many_sockets", user_id=device.user_id, socket_ids=excess_ids)
            transaction.on_commit(lambda: wakeups.publish([message]), robust=True)
    return Opened(all(is_later for _, is_later in others), bool(in_call), event_log.Position(epoch, head_seq, min_seq))


def _record_and_read(device: Device) -> list[tuple[Any, ...]]:
    """The log's position, whether there is a call, and the user's other sockets (or None), newest first."""
    user_id, session_id, socket_id = device
    now = timezone.now()
    dead, at = (as_parameter(moment) for moment in (alive_since(now), now))
    with prepared() as cursor:
        cursor.execute(_INSERT, [socket_id, user_id, session_id, at, at])
    state_of = [at, socket_id, dead, user_id]
    fetched = rows(_READ_STATE, state_of)
    if not fetched:
        event_log.position(user_id)  # creates it
        fetched = rows(_READ_STATE, state_of)
    return fetched


_INSERT = (
    f"INSERT INTO {Socket._meta.db_table} (id, user_id, session_id, acked_seq, opened_at, seen_at)"
    " VALUES (%s, %s, %s, 0, %s, %s)"
)
_READ_STATE = (
    "SELECT t.epoch, t.head_seq, t.min_seq,"
    f" EXISTS (SELECT 1 FROM {CallParticipant._meta.db_table} p WHERE p.user_id = t.user_id AND p.live),"
    " o.id, o.opened_at > %s"
    f" FROM {Stream._meta.db_table} t LEFT JOIN {Socket._meta.db_table} o"
    " ON o.user_id = t.user_id AND o.id <> %s AND o.seen_at > %s"
    " WHERE t.user_id = %s ORDER BY o.opened_at DESC, o.id DESC"
)


def last_seen(socket_ids: Iterable[str]) -> dict[str, datetime]:
    """When their processes last touched these sockets. One that has closed is missing."""
    return dict(Socket.objects.filter(id__in=list(socket_ids)).values_list("id", "seen_at"))


def newest_of(*, user_id: int, session_id: int | None, but: str, since: datetime) -> Device | None:
    """The newest socket of the session, `but` one, that has opened since then and has not closed."""
    others = Socket.objects.filter(user_id=user_id, session_id=session_id).exclude(id=but)
    newest = others.filter(opened_at__gte=since).order_by("opened_at").last()
    return None if newest is None else Device(user_id, newest.session_id, newest.id)


def renewed(device: Device) -> None:
    """Stores that a socket continues with another session of the same user."""
    listed = Socket.objects.filter(id=device.socket_id)
    listed.exclude(session_id=device.session_id).update(session_id=device.session_id)


def closed(*, socket_ids: Iterable[str]) -> None:
    """Deletes the rows of sockets that have closed."""
    Socket.objects.filter(id__in=list(socket_ids)).delete()


def still_open(*, owners: Mapping[str, int]) -> dict[str, Close]:
    """Called by the sweep of a process with its open sockets and their users. Returns those that have to close: newer
    ones replaced them, or they were purged because the process had not touched them for minutes."""
    listed = Socket.objects.filter(id__in=list(owners))
    if listed.update(seen_at=timezone.now()) == len(owners):
        return {}
    unlisted = owners.keys() - set(listed.values_list("id", flat=True))
    user_ids = {owners[socket_id] for socket_id in unlisted}
    counts = Counter(Socket.objects.alive().filter(user_id__in=user_ids).values_list("user_id", flat=True))
    return {
        socket_id: Close.TOO_MANY if counts[owners[socket_id]] >= conf.SOCKETS_PER_USER else Close.RESTART
        for socket_id in unlisted
    }


def purge_dead(*, now: datetime) -> list[tuple[int, datetime]]:
    """Deletes sockets of processes that were killed, the earliest first. Returns the user of each, and the time when
    its process last touched it."""
    dead = Socket.objects.filter(seen_at__lt=now - timedelta(seconds=2 * conf.SOCKET_DEAD_SECONDS))
    with unit_of_work():
        locked = dead.select_for_update(skip_locked=True).order_by("seen_at")
        purged = list(locked.values_list("id", "user_id", "seen_at")[:PURGED])
        Socket.objects.filter(id__in=[socket_id for socket_id, *_ in purged]).delete()
    return [(user_id, seen_at) for _, user_id, seen_at in purged]


def end_sessions(*, user_id: int, session_ids: Iterable[int], code: str) -> None:
    """Closes the sockets of sessions with 4401 and this code as the reason, once the open transaction has committed."""
    message = wakeups.End(type="end", user_id=user_id, session_ids=list(session_ids), code=code)
    transaction.on_commit(lambda: wakeups.publish([message]), robust=True)


def recheck(*, user_id: int) -> None:
    """Makes a user's sockets check after the commit whether they may stay open."""
    message = wakeups.Recheck(type="recheck", user_id=user_id)
    transaction.on_commit(lambda: wakeups.publish([message]), robust=True)


_ACKNOWLEDGE = f"UPDATE {Socket._meta.db_table} SET acked_seq = %s WHERE id = %s AND acked_seq < %s"


def acknowledged(*, socket_id: str, user_id: int, seq: int, delivered: Mapping[int, int]) -> None:
    """A device of this user has the log up to `seq`, with the messages of these conversations up to these ids. It needs
    no push for them, and the senders see the messages as delivered."""
    with prepared() as cursor:
        cursor.execute(_ACKNOWLEDGE, [seq, socket_id, seq])
    if delivered:
        conversations.mark_delivered(user_id=user_id, delivered=delivered)


def socket_statuses(queries: Sequence[SocketStatusQuery]) -> list[SocketStatus]:
    """For the delivery of pushes: whether a socket of the session acknowledged the events of that time."""
    open_sockets = Socket.objects.alive().filter(session_id__any={query.session_id for query in queries})
    acked: dict[int, int] = dict(open_sockets.values_list("session_id").annotate(Max("acked_seq")))
    # All devices of a user share this number.
    newest_seq = cache(_newest_seq)

    def status(query: SocketStatusQuery) -> SocketStatus:
        if query.session_id not in acked:
            return SocketStatus.ABSENT
        has_seen = acked[query.session_id] >= newest_seq(query.user_id, query.since)
        return SocketStatus.SEEN if has_seen else SocketStatus.CONNECTED

    return [status(query) for query in queries]


def _newest_seq(user_id: int, since: datetime) -> int:
    """The last event of the unit of work that wrote at `since`; a unit of work writes its events last."""
    upto = since + UNIT_OF_WORK_DURATION
    written = Event.objects.filter(user_id=user_id, created_at__lte=upto).order_by("-seq")
    return written.values_list("seq", flat=True).first() or 0


def send_delivered(*, conversation: Any, user_id: int, delivered_id: int) -> None:
    """Shows the sender after the commit that messages are delivered, unless there is a block or they are shown as
    read."""
    peer_id = conversation.other_id(user_id)
    seen_by_peer = conversations_for(peer_id, [conversation.id]).get(conversation.id)
    if seen_by_peer is None or seen_by_peer.delivery_receipt != delivered_id:
        return
    data = {"conversation_id": conversation.id, "user_id": user_id, "delivered_id": delivered_id}
    message = wakeups.frame_message(peer_id, {"type": "conversation.delivered", "data": data})
    transaction.on_commit(lambda: wakeups.publish([message]), robust=True)
