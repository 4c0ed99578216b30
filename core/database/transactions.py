"""One transaction for a change and its consequences.

A service opens a unit of work, changes data and sends its signal. Receivers write rows, or register
work for the end: `before_commit` runs a function, `collect` passes all items of the unit to one
function in one call. Both run right before the outermost commit. The event log uses this to write all
its rows in a single flush, in an order that prevents deadlocks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import OperationalError, transaction
from django.db.models import QuerySet

R = TypeVar("R")
Callback = Callable[[], None]
Flush = Callable[[list[Any]], None]

# SQLSTATE of a transaction that PostgreSQL ended because it and another one waited for each other.
DEADLOCK = "40P01"
REPEATS = 2


@dataclass(slots=True)
class _Unit:
    callbacks: list[Callback] = field(default_factory=list)
    items_by_flush: dict[Flush, list[Any]] = field(default_factory=dict)

    def join(self, inner: "_Unit") -> None:
        self.callbacks.extend(inner.callbacks)
        for flush, items in inner.items_by_flush.items():
            self.items_by_flush.setdefault(flush, []).extend(items)

    def finish(self) -> None:
        """Runs the registered functions, which may register more; then flushes the collected items."""
        while self.callbacks or self.items_by_flush:
            while self.callbacks:
                self.callbacks.pop(0)()
            items_by_flush, self.items_by_flush = self.items_by_flush, {}
            for flush, items in items_by_flush.items():
                flush(items)


# Innermost last. When an inner unit fails, its callbacks are dropped.
_open_units: ContextVar[tuple[_Unit, ...]] = ContextVar("open_units", default=())


# Not transaction.atomic: docs/decisions/database.md#0002
@contextmanager
def unit_of_work(*, savepoint: bool = True) -> Iterator[None]:
    """An atomic block; nested ones join the outermost, which runs the registered functions.

    A nested one without a savepoint saves two round trips; its error rolls the outermost one back.
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


def again_after_deadlock(work: Callable[[], R]) -> R:
    """Runs `work`, a whole transaction; after a deadlock with another one it runs again, twice at most.

    For work that locks rows of all apps and can be repeated. Inside an open transaction it runs only once, because the
    whole transaction would have to be repeated.
    """
    for _ in range(0 if transaction.get_connection().in_atomic_block else REPEATS):
        try:
            return work()
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") != DEADLOCK:
                raise
    return work()


def before_commit(callback: Callback) -> None:
    """Run `callback` right before the outermost unit commits. RuntimeError outside of a unit."""
    _innermost().callbacks.append(callback)


def collect(flush: Flush, item: Any) -> None:
    """Call `flush` once, after all callbacks, with every item collected for it. RuntimeError outside of a unit."""
    _innermost().items_by_flush.setdefault(flush, []).append(item)


def lock_in_order(rows: QuerySet[Any, Any], *, no_key: bool = True) -> list[int]:
    """Locks these rows, the lowest id first, until the transaction ends; returns their ids. Two transactions that change
    the same rows in different orders would wait for each other. For a deletion `no_key` is False."""
    return list(rows.select_for_update(no_key=no_key).order_by("id").values_list("id", flat=True))


def _innermost() -> _Unit:
    units = _open_units.get()
    if not units:
        raise RuntimeError("before_commit and collect need an open unit of work")
    return units[-1]
