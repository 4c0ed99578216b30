"""Several people at once, on real connections."""

from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from typing import Any

from django.db import connections


def together(jobs: Sequence[Callable[[], Any]], *, seconds: float = 60) -> list[Any]:
    """Starts all jobs at the same moment, each on a thread of its own; their results in order.

    The first exception of a job is raised here.
    """
    start = Barrier(len(jobs))
    results: list[Any] = [None] * len(jobs)
    errors: list[BaseException] = []

    def run(place: int, job: Callable[[], Any]) -> None:
        try:
            start.wait(seconds)
            results[place] = job()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=pair, daemon=True) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results
