"""Retention: deletes events beyond the resume window, and sockets of processes that died."""

from datetime import datetime

from core.database import DeletionJobs
from realtime.services import log, sockets


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    return {
        "events": iter(lambda: log.prune(now=now, batch=batch), 0),
        "sockets": iter(lambda: sockets.purge_dead(now=now), 0),
    }
