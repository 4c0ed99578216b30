"""Functions that run at the same moment, each on a thread and a database connection of its own."""

from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from time import sleep
from typing import Any

from django.db import connection, connections, transaction


def parallel_outcomes(number: int, act: Callable[[int], Any], *, seconds: float = 60) -> list[Any]:
    """What `act(0)` … `act(number - 1)` returned or raised, in this order."""
    start = Barrier(number)
    outcomes: list[Any] = [None] * number

    def run(index: int) -> None:
        try:
            start.wait(seconds)
            outcomes[index] = act(index)
        except BaseException as error:
            outcomes[index] = error
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(index,), daemon=True) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return outcomes


def run_parallel(jobs: Sequence[Callable[[], Any]], *, seconds: float = 60) -> list[Any]:
    """What the jobs returned, in their order. The first exception of a job is raised."""
    outcomes = parallel_outcomes(len(jobs), lambda index: jobs[index](), seconds=seconds)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes


def start_until_it_waits(act: Callable[[], Any], *, seconds: float = 20) -> Callable[[], Any]:
    """Starts `act` on a thread. Returns when it has ended or waits for a lock of the open transaction (PostgreSQL only),
    a function that waits for its end and returns what it returned, or raises its error."""
    outcomes: list[Any] = []
    thread = Thread(target=lambda: outcomes.extend(parallel_outcomes(1, lambda _: act(), seconds=seconds)), daemon=True)
    thread.start()
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    with connection.cursor() as cursor:
        while thread.is_alive() and not cursor.execute(waiting).fetchone():
            sleep(0.01)

    def end() -> Any:
        thread.join(seconds)
        (outcome,) = outcomes
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return end


def is_free_while(act: Callable[[], Any], waited_for: Any, row: Any) -> bool:
    """Whether `act`, which has to wait for one row, has left another row unlocked until then (PostgreSQL only)."""
    with transaction.atomic():
        type(waited_for)._default_manager.select_for_update().get(pk=waited_for.pk)
        end = start_until_it_waits(act)
        is_free = type(row)._default_manager.select_for_update(skip_locked=True).filter(pk=row.pk).exists()
    end()
    return is_free
