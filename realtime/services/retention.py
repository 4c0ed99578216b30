"""Retention: deletes events beyond the resume window, and sockets of processes that died."""

from collections.abc import Callable
from datetime import datetime

from realtime.services import log, sockets


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Runs each of the jobs once; returns the number of rows of each kind."""
    return {kind: delete(batch) for kind, delete in jobs(now).items()}


def jobs(now: datetime) -> dict[str, Callable[[int], int]]:
    """For each kind of row a function that deletes at most about `batch` of them in short transactions and returns
    how many. Call it again while that is not 0."""
    return {
        "events": lambda batch: log.prune(now=now, batch=batch),
        "sockets": lambda batch: sockets.purge_dead(now=now),
    }
