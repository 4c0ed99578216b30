"""One transaction for a change and for everything that follows from it.

A service opens a unit of work, changes data and sends its signal. Receivers write rows or register
a function with `before_commit`; those run once, as the last act before the outermost commit. That
is how the event log writes all its rows in a single flush, in the order that cannot deadlock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

Act = Callable[[], None]

# One list per open unit, innermost last: what an inner unit registered goes with it when it fails.
_open_units: ContextVar[tuple[list[Act], ...]] = ContextVar("open_units", default=())


@contextmanager
def unit_of_work() -> Iterator[None]:
    """An atomic block; nested ones join the outermost, which runs what was registered."""
    outer = _open_units.get()
    acts: list[Act] = []
    token = _open_units.set((*outer, acts))
    try:
        with transaction.atomic():
            yield
            if outer:
                outer[-1].extend(acts)
            else:
                while acts:
                    acts.pop(0)()
    finally:
        _open_units.reset(token)


def before_commit(act: Act) -> None:
    """Run `act` as the last thing before the outermost unit commits. RuntimeError outside of a unit."""
    units = _open_units.get()
    if not units:
        raise RuntimeError("before_commit needs an open unit of work")
    units[-1].append(act)
