"""Wakes the delivery workers after a commit.

A lost wake-up does no harm, because the sweep polls every two seconds. In one process a wake-up is an event. On
PostgreSQL a thread of its own sends NOTIFY, so that no request waits for it. Inside the transaction, NOTIFY would make
commits queue behind each other.
"""

import contextlib
import threading
import time
from collections.abc import Iterator

from django.db import connection, connections, transaction

from core.database.connections import leave_pool
from core.database.statements import on_postgresql
from notifications.conf import conf

CHANNEL = "parley_delivery"
_PAUSE_SECONDS = 0.02
_IDLE_SECONDS = 5.0

_listeners: set[threading.Event] = set()


def wake_on_commit() -> None:
    """Wake the workers when the current transaction has committed; at once outside of one."""
    transaction.on_commit(wake, robust=True)


def wake() -> None:
    wake_this_process()
    if on_postgresql() and conf.NOTIFY:
        _notifier.notify()


def wake_this_process() -> None:
    for event in tuple(_listeners):
        event.set()


@contextlib.contextmanager
def listening(event: threading.Event) -> Iterator[None]:
    """While the block runs, every wake-up sets `event`."""
    _listeners.add(event)
    try:
        yield
    finally:
        _listeners.discard(event)


class _Notifier:
    """Sends NOTIFY from a thread that ends when it has had nothing to do for a while."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._thread: threading.Thread | None = None
        self._thread_lock = threading.Lock()

    def notify(self) -> None:
        self._requested.set()
        with self._thread_lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="delivery-notify", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        leave_pool()
        try:
            while self._requested.wait(_IDLE_SECONDS):
                self._requested.clear()
                with contextlib.suppress(Exception), connection.cursor() as cursor:
                    cursor.execute(f"NOTIFY {CHANNEL}")
                if connection.connection is not None and not connection.is_usable():
                    connection.close()
                time.sleep(_PAUSE_SECONDS)
        finally:
            connections.close_all()
            with self._thread_lock:
                self._thread = None
            if self._requested.is_set():
                self.notify()


_notifier = _Notifier()
