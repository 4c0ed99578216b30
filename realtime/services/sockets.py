"""Open sockets: who holds how many, in whichever process, and which of them must go."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.services import sessions
from accounts.unit_of_work import unit_of_work
from realtime import groups
from realtime.conf import conf
from realtime.models import Socket


def opened(*, socket_id: str, user_id: int, session_id: int) -> bool:
    """Notes a new socket; True when it is the person's first one (of two at once, the earlier).

    When it is one too many, the oldest of that person are told to close.
    """
    now = timezone.now()
    alive = Socket.objects.filter(user_id=user_id, seen_at__gt=now - timedelta(seconds=conf.SOCKET_DEAD_SECONDS))
    Socket(id=socket_id, user_id=user_id, session_id=session_id, opened_at=now, seen_at=now).save(force_insert=True)
    others = list(alive.exclude(id=socket_id).order_by("-opened_at", "-id").values_list("id", "opened_at"))
    crowded = [other_id for other_id, _ in others[max(0, conf.SOCKETS_PER_USER - 1) :]]
    if crowded:
        # Their rows go at once: the next arrival must not count them again.
        with unit_of_work():
            Socket.objects.filter(id__in=crowded).delete()
            transaction.on_commit(lambda: groups.close_sockets(user_id, crowded), robust=True)
    return all(opened_at > now for _, opened_at in others)


def renewed(*, socket_id: str, session_id: int) -> None:
    """A socket goes on under another session of the same person."""
    Socket.objects.filter(id=socket_id).exclude(session_id=session_id).update(session_id=session_id)


def ended(session_ids: Iterable[int]) -> dict[int, str]:
    """Those of these sessions whose sockets must close, with the error code."""
    return sessions.ended(session_ids)


def closed(*, socket_id: str) -> None:
    """Forgets a socket."""
    Socket.objects.filter(id=socket_id).delete()


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
