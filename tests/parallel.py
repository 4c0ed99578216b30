"""Many threads at one gate."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def together(number: int, act: Callable[[int], Any]) -> list[Any]:
    """Runs `act(0)` … `act(number - 1)` in as many threads, started at once; what each returned or raised."""
    gate = threading.Barrier(number)
    results: list[Any] = [None] * number

    def run(place: int) -> None:
        gate.wait(30)
        try:
            results[place] = act(place)
        except Exception as error:
            results[place] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results
