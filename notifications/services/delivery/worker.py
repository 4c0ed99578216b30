"""The worker claims due deliveries, sends them on a pool of threads, and stores the results.

Each channel has its own worker, so that a hanging push service never delays a code. Only the worker's own thread uses
the database; the threads of the pool use the network.
"""

import logging
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from datetime import timedelta

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, connections
from django.utils import timezone

from core.database.connections import leave_pool
from core.database.exclusive import holds_session_lock
from notifications.channels import Dead, DeviceGone, Outcome, Sent, TargetGone, Unavailable, WrongSender
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery import claims, outbox, pauses, wakeups
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.sending import FRESH_SECONDS, DeliveryHandler, Job, SendingPool

log = logging.getLogger(__name__)

State = Delivery.State

_PROBES = 3
# A token of another project is given up after so many tries, if others are reached meanwhile.
_MISMATCH_TRIES = 3


class DatabaseOutage:
    """Logs an outage once for all threads of a process: when the first one waits, and when all of them continue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[str] = set()

    def begin(self, thread: str, error: Exception) -> None:
        with self._lock:
            if not self._waiting:
                log.warning("Delivery waits for the database (%s).", type(error).__name__)
            self._waiting.add(thread)

    def end(self, thread: str) -> None:
        with self._lock:
            if self._waiting == {thread}:
                log.warning("Delivery goes on, the database answers again.")
            self._waiting.discard(thread)


class ChannelWorker(threading.Thread):
    def __init__(self, channel: str, handler: DeliveryHandler, threads: int, outage: DatabaseOutage) -> None:
        # The name under which it is paused: the channel, or one of its targets.
        self.name_of_pause = f"{channel}:{handler.target}" if handler.target else channel
        super().__init__(name=f"delivery-{self.name_of_pause}", daemon=True)
        self.channel = channel
        self.handler = handler
        self.threads = threads
        self.wake = threading.Event()
        self._pool = SendingPool(self.name_of_pause, handler, threads, self.wake)
        self._ready: deque[Job] = deque()
        self._results: list[DeliveryResult] = []
        self._held: Counter[int] = Counter()
        self._sending: Counter[int] = Counter()
        self._seconds_each = 0.05
        self._outage = outage
        self._breaker = pauses.CircuitBreaker()
        self._is_paused = False
        self._swept_at = 0.0
        self._wake_at = 0.0
        self._stopping = threading.Event()

    def run(self) -> None:
        """Serve the channel until `stop`, then return unsent deliveries to the queue."""
        leave_pool()
        self._pool.start()
        with wakeups.listening(self.wake):
            while not self._stopping.is_set():
                self._guarded(self._run_once)
        self._shut_down()
        connections.close_all()

    def stop(self) -> None:
        self._stopping.set()
        self.wake.set()

    def _guarded(self, step: Callable[[], None]) -> bool:
        """Runs the step; False when it failed."""
        try:
            step()
        except Exception as error:
            if isinstance(error, DatabaseError | InterfaceError):
                self._outage.begin(self.name, error)
                # With a sweep the next step begins with a query, which shows whether the outage is over.
                self._swept_at = 0.0
            else:
                log.exception("Delivery by %s failed and goes on.", self.name_of_pause)
            connections.close_all()
            self._stopping.wait(1)
            return False
        self._outage.end(self.name)
        return True

    def _run_once(self) -> None:
        self._record()
        now = time.monotonic()
        if now - self._swept_at >= conf.SWEEP_SECONDS:
            claims.sweep()
            self._swept_at = now
        has_claimed = self._claim()
        self._dispatch()
        if has_claimed or self._pool.finished or self._results:
            return
        seconds = conf.SWEEP_SECONDS
        if self._wake_at > now:
            seconds = min(seconds, self._wake_at - now)
        self.wake.wait(max(seconds, 0.005))
        self.wake.clear()
        if len(self._pool.finished) < self._sending.total():
            # Results arrive one by one. A statement for each would cost more than a short wait.
            self._stopping.wait(0.005)

    def _claim(self) -> bool:
        """Claim and prepare; whether there was anything."""
        self.handler.refill()
        if self.handler.target and not self._serves_target():
            self._pool.return_waiting()
            return False
        limit = self._free_capacity()
        if limit < 1:
            return False
        pause = pauses.current(self.name_of_pause)
        self._is_paused = pause is not None
        if pause is not None:
            wait = (pause.until - timezone.now()).total_seconds()
            if wait > 0:
                self._wake_after(wait)
                return False
            if self._held:
                return False
            limit = min(limit, _PROBES)
        if self.handler.target:
            rows = claims.claim_webhooks(target=self.handler.target, limit=limit)
        else:
            rows = claims.claim(channel=self.channel, limit=limit, busy=list(self._held))
        if not rows:
            return False
        now = timezone.now()
        self._results += [row.result(State.EXPIRED, count_attempt=False) for row in rows if row.expires_at <= now]
        valid = [row for row in rows if row.expires_at > now]
        try:
            prepared_rows = self._prepare(valid)
        except (DatabaseError, InterfaceError):
            # Returned to the queue when the database answers: a ring or a code cannot wait for the end of the lease.
            self._results += [row.unchanged() for row in valid]
            raise
        for prepared in prepared_rows:
            if isinstance(prepared, DeliveryResult):
                self._add_result(prepared)
            else:
                self._held[prepared.row.recipient_key] += 1
                self._ready.append(prepared)
        return True

    def _serves_target(self) -> bool:
        """Whether this process serves the target. One at a time does, so that events start in their order. The next one
        takes what its predecessor had claimed, instead of sending newer events until the leases end."""
        own = [-key for key in self._held]

        def take_over() -> None:
            claims.release_webhooks(target=self.handler.target, kept=own)

        return holds_session_lock(f"webhook:{self.handler.target}", taken=take_over)

    def _prepare(self, rows: Sequence[Claimed]) -> Sequence[Job | DeliveryResult]:
        try:
            return self.handler.prepare(rows)
        except ImproperlyConfigured as error:
            pauses.pause(self.name_of_pause, str(error))
            return [row.unchanged() for row in rows]
        except (DatabaseError, InterfaceError):
            raise
        except Exception as error:
            if len(rows) > 1:
                # One delivery makes the batch fail; the others must not wait for it.
                return [prepared for row in rows for prepared in self._prepare([row])]
            log.exception("Delivery %s cannot be prepared.", rows[0].id)
            self._retry(rows[0], f"cannot be prepared ({type(error).__name__})")
            return []

    def _free_capacity(self) -> int:
        """The number of deliveries that can be sent within about a second."""
        per_second = int(self.threads / max(self._seconds_each, 0.001))
        capacity = min(max(per_second, self.threads), conf.BATCH) - self._held.total()
        # At a thousand deliveries a second, half batches would double the statements.
        return capacity if per_second < conf.BATCH or capacity * 2 >= conf.BATCH else 0

    def _dispatch(self) -> None:
        waiting: deque[Job] = deque()
        while self._ready:
            job = self._ready.popleft()
            recipient_key = job.row.recipient_key
            is_crowded = self._seconds_each > 0.02 and self._sending[recipient_key] >= conf.THREADS_PER_RECIPIENT
            if is_crowded and job.row.priority >= Delivery.Priority.MESSAGE:
                if job.is_stale():
                    # Returned to the queue, because deliveries held here block those of other users.
                    self._results.append(job.row.unchanged())
                    self._decrement(self._held, recipient_key)
                else:
                    self._wake_after(FRESH_SECONDS / 2)
                    waiting.append(job)
                continue
            self._sending[recipient_key] += 1
            self._pool.submit(job)
        self._ready = waiting

    @staticmethod
    def _decrement(counter: Counter[int], recipient_key: int) -> None:
        counter[recipient_key] -= 1
        if counter[recipient_key] <= 0:
            del counter[recipient_key]

    def _collect(self) -> None:
        while self._pool.finished:
            job, outcome, seconds = self._pool.finished.popleft()
            recipient_key = job.row.recipient_key
            self._decrement(self._held, recipient_key)
            self._decrement(self._sending, recipient_key)
            if outcome is not None:
                self._seconds_each += (seconds - self._seconds_each) * 0.1
            self._record_outcome(job, outcome)

    def _record_outcome(self, job: Job, outcome: Outcome | None) -> None:
        row = job.row
        if outcome is None:
            self._results.append(row.unchanged())
            return
        reason = self._breaker.record(outcome, recipient=row.recipient_key, device=row.device_id)
        is_paused = self._is_paused or bool(reason)
        if isinstance(outcome, WrongSender) and not is_paused and row.tries >= _MISMATCH_TRIES:
            if self._breaker.is_isolated_mismatch(row.device_id):
                outcome = DeviceGone(outcome.error)
        # The result is stored first: it must not be lost if the database fails afterwards.
        if isinstance(outcome, Sent):
            self._add_result(row.result(State.SENT, provider_id=outcome.provider_id, payload=job.sent_payload))
            if self._is_paused:
                pauses.resume(self.name_of_pause)
                self._is_paused = False
        elif isinstance(outcome, Dead | DeviceGone | TargetGone):
            result = row.result(State.DEAD, outcome.error, payload=row.payload if self.handler.target else {})
            self._add_result(result)
            if isinstance(outcome, DeviceGone) and row.device_id is not None:
                if not outbox.switch_off(row.device_id, job.message.token):
                    # The device has got another token meanwhile; the push is sent to that.
                    result.state = State.PENDING
        else:
            is_uncounted = isinstance(outcome, Unavailable) or is_paused
            self._retry(row, outcome.error, after=outcome.after, count_attempt=not is_uncounted)
        self.handler.recorded(job, outcome)
        if reason:
            if self.handler.target:
                self._pool.return_waiting()
            pauses.pause(self.name_of_pause, reason, min_seconds=getattr(outcome, "after", None) or 0)
            self._is_paused = True

    def _retry(self, row: Claimed, error: str, *, after: float | None = None, count_attempt: bool = True) -> None:
        """Schedule a retry after the seconds of the channel, give or take a share, or give up after the last attempt."""
        tries, seconds_after, jitter = self.handler.retries
        if count_attempt and row.tries >= tries:
            self._add_result(row.result(State.DEAD, error, payload=row.payload if self.handler.target else {}))
            return
        if self.handler.target and not count_attempt:
            # The pause determines the time; a later one would let other events overtake this one.
            self._add_result(row.result(State.PENDING, error, count_attempt=False))
            return
        step = seconds_after[min(row.tries, len(seconds_after)) - 1]
        seconds = step * random.uniform(1 - jitter, 1 + jitter)
        if not count_attempt:
            seconds = min(seconds, conf.PAUSE_SECONDS[1])
        seconds = max(seconds, after or 0)
        # A delivery that expires before its next attempt is claimed once more, and ends as expired.
        due_at = min(timezone.now() + timedelta(seconds=seconds), row.expires_at)
        self._add_result(row.result(State.PENDING, error, due_at=due_at, count_attempt=count_attempt))

    def _add_result(self, result: DeliveryResult) -> None:
        if result.due_at is not None:
            self._wake_after((result.due_at - timezone.now()).total_seconds())
        self._results.append(result)

    def _wake_after(self, seconds: float) -> None:
        at = time.monotonic() + max(seconds, 0.01)
        if self._wake_at <= time.monotonic() or at < self._wake_at:
            self._wake_at = at

    def _write_results(self) -> None:
        # Results are kept until they are stored, because they must survive an outage of the database.
        claims.finish(self._results)
        self._results = []

    def _shut_down(self) -> None:
        """Release deliveries that no thread has started, wait for the others, store their results."""
        self._results += [job.row.unchanged() for job in self._ready]
        self._ready.clear()
        self._pool.return_waiting()
        deadline = time.monotonic() + conf.STOP_SECONDS
        while len(self._pool.finished) < self._sending.total() and time.monotonic() < deadline:
            self.wake.wait(0.05)
            self.wake.clear()
        # The database may be back in time. Deliveries that were sent but not recorded would be sent again.
        while not self._guarded(self._record) and time.monotonic() < deadline:
            time.sleep(0.5)
        self._pool.stop(deadline)

    def _record(self) -> None:
        self._collect()
        self._write_results()
