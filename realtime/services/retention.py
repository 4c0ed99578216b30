"""Retention: deletes events beyond the resume window, and sockets of processes that died."""

from collections.abc import Iterator
from datetime import datetime

from realtime.services import log, sockets


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Runs the first batch of each job; returns the number of rows of each kind."""
    return {kind: next(job, 0) for kind, job in jobs(now, batch).items()}


def jobs(now: datetime, batch: int) -> dict[str, Iterator[int]]:
    """For each kind of row an iterator that deletes about `batch` of them at a time, in short transactions, and gives
    how many, until none is left. Two callers at once delete nothing twice."""
    return {
        "events": iter(lambda: log.prune(now=now, batch=batch), 0),
        "sockets": iter(lambda: sockets.purge_dead(now=now), 0),
    }
