"""Deletes events beyond the resume window, and sockets of processes that died."""

from datetime import datetime

from core.database.deletion import DeletionJobs
from realtime.services import event_log, presence


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    return {
        "events": iter(lambda: event_log.prune(now=now, batch=batch), 0),
        "sockets": iter(lambda: presence.forget_killed(now=now), 0),
    }
