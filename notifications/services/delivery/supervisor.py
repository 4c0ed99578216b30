"""Starts and stops workers, for `manage.py deliver` or in a thread of the server."""

import contextlib
import fcntl
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from django.db import DatabaseError, connection, connections

from core.database.connections import leave_pool
from core.database.statements import on_postgresql
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery import claims, wakeups
from notifications.services.delivery.mail import MailHandler
from notifications.services.delivery.push_handler import PushHandler
from notifications.services.delivery.sending import DeliveryHandler
from notifications.services.delivery.worker import ChannelWorker, DatabaseOutage

log = logging.getLogger(__name__)

# Makes the handlers of the configured webhook targets.
Handlers = Callable[[], Sequence[DeliveryHandler]]
_webhooks: Handlers | None = None


def register_webhooks(handlers: Handlers) -> None:
    """Registers the app that has webhooks, which this one may not import. Each handler names its target."""
    global _webhooks
    _webhooks = handlers


def run(stopped: threading.Event) -> None:
    """Deliver until `stopped` is set; on SQLite only while no other process delivers from the file."""
    with _exclusive(stopped) as may_run:
        if not may_run:
            return
        connections.close_all()
        outage = DatabaseOutage()
        # A channel or webhook target never waits for another one.
        workers = [
            ChannelWorker(Delivery.Channel.MAIL, MailHandler(), conf.MAIL_THREADS, outage),
            ChannelWorker(Delivery.Channel.PUSH, PushHandler(), conf.PUSH_THREADS, outage),
            *(
                ChannelWorker(Delivery.Channel.WEBHOOK, handler, conf.WEBHOOK_THREADS, outage)
                for handler in (_webhooks() if _webhooks is not None else ())
            ),
        ]
        threads: list[ChannelWorker | Listener] = [*workers]
        if on_postgresql():
            threads.append(Listener(outage))
        for thread in threads:
            thread.start()
        stopped.wait()
        for thread in threads:
            thread.stop()
        for worker in workers:
            worker.join(conf.STOP_SECONDS + 3)


@contextlib.contextmanager
def run_in_thread() -> Iterator[None]:
    """Deliver from a thread of this process while the block runs.

    After the block, running deliveries are finished; all others go back to the queue.
    """
    stopped = threading.Event()
    thread = threading.Thread(target=run, args=[stopped], name="delivery", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(conf.STOP_SECONDS + 5)


@contextlib.contextmanager
def _exclusive(stopped: threading.Event) -> Iterator[bool]:
    """On SQLite: wait until this process is the only one that delivers from the file. False when `stopped` is set before.

    The lock is the operating system's, on a file beside the database. It ends with its process, so the next process may
    release every leased delivery at once.
    """
    if on_postgresql():
        yield True
        return
    with Path(f"{connection.settings_dict['NAME']}.delivery").open("a") as file:
        lock = partial(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = _repeat(lock, stopped, "Another process delivers from this database; waiting for it to end.")
        # Fails until the tables are migrated.
        yield is_alone and _repeat(
            claims.release_all_leases,
            stopped,
            "The database cannot be used for delivery yet: {error}. Trying again every second.",
        )


def _repeat(attempt: Callable[[], object], stopped: threading.Event, warning: str) -> bool:
    """Repeats this every second until it succeeds; logs the first failure. False when `stopped` is set before."""
    has_warned = False
    while not stopped.is_set():
        try:
            attempt()
            return True
        except (OSError, DatabaseError) as error:
            if not has_warned:
                log.warning(warning.format(error=error))
                has_warned = True
            connections.close_all()
            stopped.wait(1)
    return False


class Listener(threading.Thread):
    """Listens for NOTIFY on its own connection and wakes the workers of this process."""

    def __init__(self, outage: DatabaseOutage) -> None:
        super().__init__(name="delivery-listen", daemon=True)
        self._outage = outage
        self._stopped = threading.Event()

    def run(self) -> None:
        leave_pool()
        while not self._stopped.is_set():
            try:
                self._listen()
            except Exception as error:
                self._outage.begin(self.name, error)
                self._stopped.wait(2)
            finally:
                connections.close_all()

    def _listen(self) -> None:
        connection.ensure_connection()
        driver = connection.connection
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {wakeups.CHANNEL}")
        self._outage.end(self.name)
        wakeups.wake_this_process()
        while not self._stopped.is_set():
            for _ in driver.notifies(timeout=0.5, stop_after=1):
                wakeups.wake_this_process()

    def stop(self) -> None:
        self._stopped.set()
