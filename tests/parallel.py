"""Functions that run at the same moment, each on a thread and a database connection of its own.

Order is not left to chance: a test waits until the database says that one transaction waits for another.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Barrier, Event, Thread, local
from time import sleep
from typing import Any

from django.db import connection, connections, transaction
from django.db.backends.signals import connection_created

PATIENCE_SECONDS = 60
_thread = local()


def _wait_longer_than_a_request(connection: Any, **_: Any) -> None:
    """On a busy machine fifty that wait for one lock take longer than a request may wait."""
    if connection.vendor == "postgresql" and getattr(_thread, "is_started", False):
        with connection.cursor() as cursor:
            for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
                cursor.execute(f"SET {limit} = '{PATIENCE_SECONDS}s'")


connection_created.connect(_wait_longer_than_a_request)


class Started:
    """An act that has been started on a thread of its own."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._act = act
        self._outcome: Any = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        _thread.is_started = True
        try:
            self._outcome = self._act()
        except BaseException as error:
            self._outcome = error
        finally:
            connections.close_all()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def outcome(self, seconds: float = PATIENCE_SECONDS) -> Any:
        """What the act returned or raised, as soon as it has."""
        self._thread.join(seconds)
        assert not self.is_running, "a thread hangs"
        return self._outcome

    def end(self, seconds: float = PATIENCE_SECONDS) -> Any:
        """What the act returned, as soon as it has. An exception of the act is raised."""
        outcome = self.outcome(seconds)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def parallel_outcomes(number: int, act: Callable[[int], Any], *, seconds: float = PATIENCE_SECONDS) -> list[Any]:
    """What `act(0)` … `act(number - 1)` returned or raised, in this order."""
    gate = Barrier(number)

    def run(index: int) -> Any:
        gate.wait(seconds)
        return act(index)

    started = [Started(lambda index=index: run(index)) for index in range(number)]
    return [one.outcome(seconds) for one in started]


def run_parallel(jobs: Sequence[Callable[[], Any]], *, seconds: float = PATIENCE_SECONDS) -> list[Any]:
    """What the jobs returned, in their order. The first exception of a job is raised."""
    outcomes = parallel_outcomes(len(jobs), lambda index: jobs[index](), seconds=seconds)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes


def start_until_it_waits(act: Callable[[], Any]) -> Started:
    """Starts `act`. Returns when it has ended or waits for a lock of the open transaction. On SQLite at once: there it
    can write only after the open transaction."""
    started = Started(act)
    while connection.vendor == "postgresql" and started.is_running and not is_waited_for():
        sleep(0.01)
    return started


def is_waited_for(seconds: float = 0) -> bool:
    """Whether another session has waited that long for a lock of the open transaction (PostgreSQL only)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            " AND clock_timestamp() - waitstart >= make_interval(secs => %s)",
            [seconds],
        )
        return cursor.fetchone() is not None


@contextmanager
def open_transaction(act: Callable[[], Any], *, until: Callable[[], bool] | None = None) -> Iterator[None]:
    """While the block runs, another session has run `act` in a transaction that is not committed. The transaction ends
    with the block, or as soon as `until`, which is asked in that session, is true."""
    has_acted, may_end = Event(), Event()

    def run() -> None:
        with transaction.atomic():
            act()
            has_acted.set()
            while not may_end.wait(0.01) and not (until is not None and until()):
                pass

    other = Started(run)
    while not has_acted.wait(0.01) and other.is_running:
        pass
    try:
        yield
    finally:
        may_end.set()
        other.end()


def is_free_while(act: Callable[[], Any], waited_for: Any, row: Any) -> bool:
    """Whether `act`, which has to wait for one row, has left another row unlocked until then (PostgreSQL only)."""
    with transaction.atomic():
        type(waited_for)._default_manager.select_for_update().get(pk=waited_for.pk)
        started = start_until_it_waits(act)
        is_free = type(row)._default_manager.select_for_update(skip_locked=True).filter(pk=row.pk).exists()
    started.end()
    return is_free
