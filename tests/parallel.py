"""Functions that run at the same moment, each on a thread and a database connection of its own."""

from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from typing import Any

from django.db import connections


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
