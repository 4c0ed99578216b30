"""One transaction for a change and for everything that follows from it.

A service opens a unit of work, changes data and sends its signal. Receivers write rows, or leave
work for the end: `before_commit` runs a function, `collect` hands all items of the unit to one
function in one call. Both happen as the last act before the outermost commit. That is how the event
log writes all its rows in a single flush, in the order that cannot deadlock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

Act = Callable[[], None]
Flush = Callable[[list[Any]], None]


@dataclass(slots=True)
class _Unit:
    acts: list[Act] = field(default_factory=list)
    collected: dict[Flush, list[Any]] = field(default_factory=dict)

    def join(self, inner: "_Unit") -> None:
        self.acts.extend(inner.acts)
        for flush, items in inner.collected.items():
            self.collected.setdefault(flush, []).extend(items)

    def finish(self) -> None:
        """Runs the registered functions, which may register more; then flushes the collected items."""
        while self.acts or self.collected:
            while self.acts:
                self.acts.pop(0)()
            collected, self.collected = self.collected, {}
            for flush, items in collected.items():
                flush(items)


# Innermost last: what an inner unit registered goes with it when it fails.
_open_units: ContextVar[tuple[_Unit, ...]] = ContextVar("open_units", default=())


@contextmanager
def unit_of_work(*, savepoint: bool = True) -> Iterator[None]:
    """An atomic block; nested ones join the outermost, which runs what was registered.

    A nested one without a savepoint saves two round trips; its error ends the outermost one.
    """
    outer = _open_units.get()
    unit = _Unit()
    token = _open_units.set((*outer, unit))
    try:
        with transaction.atomic(savepoint=savepoint):
            yield
            if outer:
                outer[-1].join(unit)
            else:
                unit.finish()
    finally:
        _open_units.reset(token)


def before_commit(act: Act) -> None:
    """Run `act` as the last thing before the outermost unit commits. RuntimeError outside of a unit."""
    _innermost().acts.append(act)


def collect(flush: Flush, item: Any) -> None:
    """Call `flush` once, after all acts, with every item collected for it. RuntimeError outside of a unit."""
    _innermost().collected.setdefault(flush, []).append(item)


def _innermost() -> _Unit:
    units = _open_units.get()
    if not units:
        raise RuntimeError("before_commit and collect need an open unit of work")
    return units[-1]
