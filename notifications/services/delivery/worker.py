"""The worker: takes due rows, sends them on a pool of threads, writes what became of them.

A worker per channel, so that a hanging push service never delays a code. Only the worker's own thread
speaks to the database; the pool speaks to the network.
"""

import itertools
import logging
import queue
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, connections
from django.utils import timezone

from core.database import leave_pool
from notifications.channels.outcomes import (
    Dead,
    DeviceGone,
    Outcome,
    Retry,
    Sent,
    Unavailable,
    WrongSender,
)
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery import claims, pauses, wakeups
from notifications.services.delivery.claims import Claimed, DeliveryResult

log = logging.getLogger(__name__)

State = Delivery.State

_PROBES = 3
# Prepared rows that waited longer than this for a thread are checked again before they are sent.
_FRESH_SECONDS = 2.0
# Sorts after every priority: the sentinel that ends a thread.
_LAST = 99
# Kinds that are worthless when they come late are tried less often.
_CALL_TRIES = 3


@dataclass(slots=True)
class Job:
    """A row that may be sent now, with what the channel needs to send it."""

    row: Claimed
    work: Any
    # Kept in the row when it was sent.
    note: dict[str, Any] = field(default_factory=dict)
    prepared_at: float = field(default_factory=time.monotonic)

    def is_stale(self) -> bool:
        """Waited so long for a thread that everything has to be checked again."""
        return time.monotonic() - self.prepared_at > _FRESH_SECONDS


class DeliveryHandler(Protocol):
    """The interface of a channel for its worker."""

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]: ...

    def send(self, job: Job) -> Outcome: ...

    def idle(self) -> None: ...

    def device_gone(self, row: Claimed) -> None: ...


def result(row: Claimed, state: str, error: str = "", **more: Any) -> DeliveryResult:
    return DeliveryResult(id=row.id, lease_until=row.lease_until, state=state, error=error, **more)


class ChannelWorker:
    def __init__(self, channel: str, sender: DeliveryHandler, threads: int) -> None:
        self.channel = channel
        self.sender = sender
        self.threads = threads
        self.wake = threading.Event()
        self._jobs: queue.PriorityQueue[tuple[int, int, Job | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._finished: deque[tuple[Job, Outcome | None, float]] = deque()
        self._ready: deque[Job] = deque()
        self._results: list[DeliveryResult] = []
        self._held: Counter[int] = Counter()
        self._sending: Counter[int] = Counter()
        self._under_way = 0
        self._seconds_each = 0.05
        self._breaker = pauses.CircuitBreaker()
        self._is_paused = False
        self._swept_at = 0.0
        self._look_at = 0.0
        self._stopping = threading.Event()
        self._pool: list[threading.Thread] = []

    # --- the worker's own thread ---

    def run(self) -> None:
        """Serve the channel until `stop`; then give back what was not sent."""
        leave_pool()
        self._pool = [
            threading.Thread(target=self._work, name=f"{self.channel}-{number}", daemon=True)
            for number in range(self.threads)
        ]
        for thread in self._pool:
            thread.start()
        with wakeups.listening(self.wake):
            while not self._stopping.is_set():
                self._guarded(self._turn)
        self._guarded(self._wind_down)
        connections.close_all()

    def stop(self) -> None:
        self._stopping.set()
        self.wake.set()

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except (DatabaseError, InterfaceError) as error:
            log.warning("Delivery by %s waits for the database (%s).", self.channel, type(error).__name__)
            connections.close_all()
            self._stopping.wait(1)
        except Exception:
            log.exception("Delivery by %s stumbled and goes on.", self.channel)
            connections.close_all()
            self._stopping.wait(1)

    def _turn(self) -> None:
        self._collect()
        self._write_results()
        now = time.monotonic()
        if now - self._swept_at >= conf.SWEEP_SECONDS:
            claims.sweep()
            self._swept_at = now
        took = self._take()
        self._dispatch()
        if took or self._finished or self._results:
            return
        seconds = conf.SWEEP_SECONDS
        if self._look_at > now:
            seconds = min(seconds, self._look_at - now)
        self.wake.wait(max(seconds, 0.005))
        self.wake.clear()
        if self._under_way and len(self._finished) < self._under_way:
            # Results arrive one by one; a statement for each would cost more than a short wait.
            self._stopping.wait(0.005)

    def _take(self) -> bool:
        """Claim and prepare; whether there was anything."""
        limit = self._room()
        if limit < 1:
            return False
        pause = pauses.current(self.channel)
        self._is_paused = pause is not None
        if pause is not None:
            wait = (pause.until - timezone.now()).total_seconds()
            if wait > 0:
                self._look_again(wait)
                return False
            if self._held:
                return False
            limit = min(limit, _PROBES)
        busy = [recipient for recipient, count in self._held.items() if count]
        rows = claims.claim(channel=self.channel, limit=limit, busy=busy)
        if not rows:
            return False
        now = timezone.now()
        self._results += [result(row, State.EXPIRED, count_attempt=False) for row in rows if row.expires_at <= now]
        for prepared in self._prepare([row for row in rows if row.expires_at > now]):
            if isinstance(prepared, DeliveryResult):
                self._end(prepared)
            else:
                self._held[_owner(prepared.row)] += 1
                self._ready.append(prepared)
        return True

    def _prepare(self, rows: Sequence[Claimed]) -> Sequence[Job | DeliveryResult]:
        try:
            return self.sender.prepare(rows)
        except ImproperlyConfigured as error:
            pauses.pause(self.channel, str(error))
            return self._untouched(rows)
        except (DatabaseError, InterfaceError):
            raise
        except Exception as error:
            if len(rows) > 1:
                # One row makes the batch fail; the others must not wait for it.
                return [prepared for row in rows for prepared in self._prepare([row])]
            log.exception("Delivery %s cannot be prepared.", rows[0].id)
            self._again(rows[0], f"cannot be prepared ({type(error).__name__})")
            return []

    def _untouched(self, rows: Sequence[Claimed]) -> list[DeliveryResult]:
        return [result(row, State.PENDING, row.last_error, count_attempt=False) for row in rows]

    def _room(self) -> int:
        """As many rows as will be sent within about a second."""
        soon = int(self.threads / max(self._seconds_each, 0.001))
        room = min(max(soon, self.threads), conf.BATCH) - len(self._ready) - self._under_way
        # While a thousand rows a second pass, half batches would double the statements.
        return room if soon < conf.BATCH or room * 2 >= conf.BATCH else 0

    def _dispatch(self) -> None:
        waiting: deque[Job] = deque()
        while self._ready:
            job = self._ready.popleft()
            owner = _owner(job.row)
            is_crowded = self._sending[owner] >= conf.THREADS_PER_RECIPIENT and self._seconds_each > 0.02
            if is_crowded and job.row.priority >= Delivery.Priority.MESSAGE:
                if job.is_stale():
                    # Back to the queue: rows held here block those of other users.
                    self._results += self._untouched([job.row])
                    self._forget(self._held, owner)
                else:
                    self._look_again(_FRESH_SECONDS / 2)
                    waiting.append(job)
                continue
            self._sending[owner] += 1
            self._under_way += 1
            self._submit(job)
        self._ready = waiting

    def _submit(self, job: Job | None) -> None:
        """To the pool, urgent ones first."""
        self._jobs.put((job.row.priority if job else _LAST, next(self._numbers), job))

    @staticmethod
    def _forget(counter: Counter[int], owner: int) -> None:
        counter[owner] -= 1
        if counter[owner] <= 0:
            del counter[owner]

    def _collect(self) -> None:
        while self._finished:
            job, outcome, seconds = self._finished.popleft()
            owner = _owner(job.row)
            self._under_way -= 1
            self._forget(self._held, owner)
            self._forget(self._sending, owner)
            if outcome is not None:
                self._seconds_each += (seconds - self._seconds_each) * 0.1
            self._settle(job, outcome)

    def _settle(self, job: Job, outcome: Outcome | None) -> None:
        row = job.row
        if outcome is None:
            self._results += self._untouched([row])
            return
        reason = self._breaker.note(outcome, recipient=_owner(row), device=row.id)
        if isinstance(outcome, Sent):
            if self._is_paused:
                pauses.resume(self.channel)
                self._is_paused = False
            self._end(result(row, State.SENT, provider_id=outcome.provider_id, payload=job.note))
        elif isinstance(outcome, Dead):
            self._end(result(row, State.DEAD, outcome.error))
        elif isinstance(outcome, DeviceGone):
            self.sender.device_gone(row)
            self._end(result(row, State.DEAD, outcome.error))
        elif isinstance(outcome, WrongSender):
            self._settle_mismatch(row, outcome, is_paused=bool(reason))
        else:
            is_free = isinstance(outcome, Unavailable) or bool(reason) or self._is_paused
            self._again(row, outcome.error, after=outcome.after, count_attempt=not is_free)
        if reason:
            pauses.pause(self.channel, reason, at_least=getattr(outcome, "after", None) or 0)
            self._is_paused = True

    def _settle_mismatch(self, row: Claimed, outcome: WrongSender, *, is_paused: bool) -> None:
        if not is_paused and not self._is_paused and row.tries >= 3 and self._breaker.is_isolated_mismatch(row.id):
            self.sender.device_gone(row)
            self._end(result(row, State.DEAD, outcome.error))
        else:
            self._again(row, outcome.error, count_attempt=not (is_paused or self._is_paused))

    def _again(self, row: Claimed, error: str, *, after: float | None = None, count_attempt: bool = True) -> None:
        """Schedule a retry, or give up after the last attempt."""
        last = _CALL_TRIES if row.priority == Delivery.Priority.CALL else conf.TRIES
        if count_attempt and row.tries >= last:
            self._end(result(row, State.DEAD, error))
            return
        seconds = retry_seconds(row.tries)
        if not count_attempt:
            seconds = min(seconds, conf.PAUSE_SECONDS[1])
        seconds = max(seconds, after or 0)
        self._look_again(seconds)
        due_at = timezone.now() + timedelta(seconds=seconds)
        self._end(result(row, State.PENDING, error, due_at=due_at, count_attempt=count_attempt))

    def _end(self, prepared: DeliveryResult) -> None:
        if prepared.state == State.PENDING and prepared.due_at is not None:
            self._look_again((prepared.due_at - timezone.now()).total_seconds())
        self._results.append(prepared)

    def _look_again(self, seconds: float) -> None:
        at = time.monotonic() + max(seconds, 0.01)
        if self._look_at <= time.monotonic() or at < self._look_at:
            self._look_at = at

    def _write_results(self) -> None:
        if self._results:
            # Kept until it succeeded: what was sent must not be forgotten while the database is away.
            claims.finish(self._results)
            self._results = []

    def _wind_down(self) -> None:
        """Release rows that no thread has started, wait for the others, store their results."""
        self._results += self._untouched([job.row for job in self._ready])
        self._ready.clear()
        try:
            while True:
                _, _, job = self._jobs.get_nowait()
                if job is not None:
                    self._finished.append((job, None, 0.0))
        except queue.Empty:
            pass
        deadline = time.monotonic() + conf.STOP_SECONDS
        while len(self._finished) < self._under_way and time.monotonic() < deadline:
            self.wake.wait(0.05)
            self.wake.clear()
        self._collect()
        self._write_results()
        for _ in self._pool:
            self._submit(None)
        for thread in self._pool:
            thread.join(max(0.0, deadline - time.monotonic()) + 0.5)

    # --- the pool ---

    def _work(self) -> None:
        while True:
            try:
                _, _, job = self._jobs.get(timeout=1)
            except queue.Empty:
                self.sender.idle()
                continue
            if job is None:
                self.sender.idle()
                return
            begun = time.monotonic()
            outcome: Outcome | None = None
            if not job.is_stale():
                try:
                    outcome = self.sender.send(job)
                except Exception as error:
                    log.exception("Sending by %s failed in an unforeseen way.", self.channel)
                    outcome = Retry(type(error).__name__)
            self._finished.append((job, outcome, time.monotonic() - begun))
            self.wake.set()


def retry_seconds(tries: int) -> float:
    """How long a row waits after its n-th try: 1, 4, 15, 60, 300 s, give or take 30 %."""
    steps = conf.RETRY_SECONDS
    step = steps[min(max(tries, 1), len(steps)) - 1]
    return step * random.uniform(1 - conf.RETRY_JITTER, 1 + conf.RETRY_JITTER)


def _owner(row: Claimed) -> int:
    return row.recipient_id if row.recipient_id is not None else -row.id
