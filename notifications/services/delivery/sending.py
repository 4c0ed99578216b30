"""A job is a claimed delivery that may be sent now. A delivery handler prepares and sends the jobs of one channel. The
threads of its pool send; they use the network, never the database.
"""

import itertools
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from notifications.channels import Outcome, Retry, TargetGone, Unavailable
from notifications.conf import conf
from notifications.services.delivery.claims import Claimed, DeliveryResult

# Jobs that waited longer than this for a thread are checked again before they are sent.
FRESH_SECONDS = 2.0


@dataclass(slots=True)
class Job:
    """A delivery that may be sent now, with its message in the form of the channel."""

    row: Claimed
    message: Any
    # The payload of the delivery once it is sent.
    sent_payload: dict[str, Any] = field(default_factory=dict)
    prepared_at: float = field(default_factory=time.monotonic)

    def is_stale(self) -> bool:
        """Whether the job waited so long for a thread that everything has to be checked again."""
        return time.monotonic() - self.prepared_at > FRESH_SECONDS


class DeliveryHandler:
    """The interface of a channel for its worker."""

    # The webhook target whose deliveries the worker claims.
    target = ""

    @property
    def retries(self) -> tuple[int, tuple[float, ...], float]:
        """The number of attempts, the seconds after each failed one, and by which share they vary."""
        return conf.TRIES, conf.RETRY_SECONDS, conf.RETRY_JITTER

    def refill(self) -> None:
        """Queue deliveries that are still missing. Called before each claim, in the worker's own thread."""

    def recorded(self, job: Job, outcome: Outcome) -> None:
        """Called after an attempt, in the worker's own thread."""

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        """What to send, or the result of a delivery that is not sent. Called in the worker's own thread; may read the
        database."""
        raise NotImplementedError

    def send(self, job: Job) -> Outcome:
        """Hand over one message. Called in a thread of the pool; must not use the database."""
        raise NotImplementedError

    def idle(self) -> None:
        """Close the connections of this thread of the pool, which has nothing to send."""


log = logging.getLogger(__name__)

# The priority of the sentinel that ends a thread: after all jobs.
_SENTINEL_PRIORITY = 99


class SendingPool:
    """Sends submitted jobs, urgent ones first. `finished` collects (job, outcome, seconds); each one sets `wake`.

    The outcome is None for a job that waited too long and has to be prepared again.
    """

    def __init__(self, channel: str, handler: DeliveryHandler, threads: int, wake: threading.Event) -> None:
        self.finished: deque[tuple[Job, Outcome | None, float]] = deque()
        self._channel = channel
        self._handler = handler
        self._wake = wake
        self._jobs: queue.PriorityQueue[tuple[int, int, Job | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._threads = [
            threading.Thread(target=self._run, name=f"{channel}-{number}", daemon=True) for number in range(threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        self._jobs.put((job.row.priority, next(self._numbers), job))

    def return_waiting(self) -> None:
        """Finishes, without an outcome, the jobs that no thread has started."""
        try:
            while True:
                _, _, job = self._jobs.get_nowait()
                if job is not None:
                    self.finished.append((job, None, 0.0))
        except queue.Empty:
            pass

    def stop(self, deadline: float) -> None:
        """Ends the threads; a thread that is still sending half a second after `deadline` is abandoned."""
        for _ in self._threads:
            self._jobs.put((_SENTINEL_PRIORITY, next(self._numbers), None))
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()) + 0.5)

    def _run(self) -> None:
        while True:
            try:
                _, _, job = self._jobs.get(timeout=1)
            except queue.Empty:
                self._handler.idle()
                continue
            if job is None:
                self._handler.idle()
                return
            started_at = time.monotonic()
            outcome: Outcome | None = None
            if not job.is_stale():
                try:
                    outcome = self._handler.send(job)
                except Exception as error:
                    log.exception("Sending by %s failed in an unforeseen way.", self._channel)
                    outcome = Retry(type(error).__name__)
            self.finished.append((job, outcome, time.monotonic() - started_at))
            if self._handler.target and (outcome is None or isinstance(outcome, Unavailable | TargetGone)):
                # The event goes back to the queue. Those after it go back, too, so that they do not overtake it.
                self.return_waiting()
            self._wake.set()
