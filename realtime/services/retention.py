"""Retention: deletes events beyond the resume window, and sockets of processes that died."""

from datetime import datetime

from realtime.services import log, sockets


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Deletes at most about `batch` rows of each kind in short transactions; returns the number of each.

    Call again while the numbers are not 0.
    """
    return {"events": log.prune(now=now, batch=batch), "sockets": sockets.purge_dead(now=now)}
