"""Open sockets: who holds how many, in whichever process, and which of them must go."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from accounts.services import sessions
from accounts.statements import prepared
from accounts.unit_of_work import unit_of_work
from realtime import groups
from realtime.conf import conf
from realtime.models import CallParty, Socket, Stream
from realtime.services import log


class Opened(NamedTuple):
    """What a new socket finds."""

    # Of two at once, the earlier is the first.
    is_first: bool
    in_call: bool
    position: log.Position


def opened(*, socket_id: str, user_id: int, session_id: int) -> Opened:
    """Notes a new socket. When it is one too many, the oldest of that person are told to close.

    Two statements by hand: after a restart everybody comes back at once.
    """
    found = _note_and_look(socket_id, user_id, session_id)
    others = [(other_id, is_later) for *_, other_id, is_later in found if other_id is not None]
    epoch, head_seq, min_seq, in_call, *_ = found[0]
    crowded = [other_id for other_id, _ in others[max(0, conf.SOCKETS_PER_USER - 1) :]]
    if crowded:
        # Their rows go at once: the next arrival must not count them again.
        with unit_of_work():
            Socket.objects.filter(id__in=crowded).delete()
            transaction.on_commit(lambda: groups.close_sockets(user_id, crowded), robust=True)
    return Opened(all(is_later for _, is_later in others), bool(in_call), log.Position(epoch, head_seq, min_seq))


def _note_and_look(socket_id: str, user_id: int, session_id: int) -> list[tuple[Any, ...]]:
    """The log's position, whether there is a call, and the person's other sockets (or None), newest first."""
    now = timezone.now()
    dead, at = (
        connection.ops.adapt_datetimefield_value(moment)
        for moment in (now - timedelta(seconds=conf.SOCKET_DEAD_SECONDS), now)
    )
    with prepared() as cursor:
        cursor.execute(_NOTE, [socket_id, user_id, session_id, at, at])
        cursor.execute(_LOOK, [at, socket_id, dead, user_id])
        found = cursor.fetchall()
        if not found:
            log.position(user_id)  # creates it
            cursor.execute(_LOOK, [at, socket_id, dead, user_id])
            found = cursor.fetchall()
    return found


_NOTE = (
    f"INSERT INTO {Socket._meta.db_table} (id, user_id, session_id, acked_seq, opened_at, seen_at)"
    " VALUES (%s, %s, %s, 0, %s, %s)"
)
_LOOK = (
    "SELECT t.epoch, t.head_seq, t.min_seq,"
    f" EXISTS (SELECT 1 FROM {CallParty._meta.db_table} p WHERE p.user_id = t.user_id AND p.live),"
    " o.id, o.opened_at > %s"
    f" FROM {Stream._meta.db_table} t LEFT JOIN {Socket._meta.db_table} o"
    " ON o.user_id = t.user_id AND o.id <> %s AND o.seen_at > %s"
    " WHERE t.user_id = %s ORDER BY o.opened_at DESC, o.id DESC"
)


def renewed(*, socket_id: str, session_id: int) -> None:
    """A socket goes on under another session of the same person."""
    Socket.objects.filter(id=socket_id).exclude(session_id=session_id).update(session_id=session_id)


def ended(session_ids: Iterable[int]) -> dict[int, str]:
    """Those of these sessions whose sockets must close, with the error code."""
    return sessions.ended(session_ids)


def closed(*, socket_id: str) -> None:
    """Forgets a socket. By hand: the ORM would open a transaction for it."""
    with prepared() as cursor:
        cursor.execute(f"DELETE FROM {Socket._meta.db_table} WHERE id = %s", [socket_id])


def still_open(*, socket_ids: Iterable[str]) -> None:
    """The sweep of a process says which of its sockets live."""
    Socket.objects.filter(id__in=list(socket_ids)).update(seen_at=timezone.now())


def purge_dead(*, now: datetime) -> int:
    """Removes what processes that were killed left behind. Returns how many."""
    dead = now - timedelta(seconds=2 * conf.SOCKET_DEAD_SECONDS)
    return Socket.objects.filter(seen_at__lt=dead).delete()[0]


def end_sessions(*, user_id: int, session_ids: Iterable[int], code: str = "token_revoked") -> None:
    """Closes the sockets of sessions once the open transaction has committed."""
    ended_ids = list(session_ids)
    transaction.on_commit(lambda: groups.end_sessions(user_id, ended_ids, code), robust=True)


def recheck(*, user_id: int) -> None:
    """After commit a person's sockets look whether they may stay."""
    transaction.on_commit(lambda: groups.recheck(user_id), robust=True)
