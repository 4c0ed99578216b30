"""Starting and stopping workers: `manage.py deliver`, or a thread beside the server."""

import contextlib
import fcntl
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from django.db import DatabaseError, connection, connections

from core.database import on_postgresql
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery import claims
from notifications.services.delivery.mail import MailHandler
from notifications.services.delivery.push_handler import PushHandler
from notifications.services.delivery.wakeups import Listener
from notifications.services.delivery.worker import ChannelWorker

log = logging.getLogger(__name__)


def channel_workers() -> list[ChannelWorker]:
    """Mail and push: neither waits for the other."""
    return [
        ChannelWorker(Delivery.Channel.MAIL, MailHandler(), conf.MAIL_THREADS),
        ChannelWorker(Delivery.Channel.PUSH, PushHandler(), conf.PUSH_THREADS),
    ]


def run(stopped: threading.Event) -> None:
    """Deliver until `stopped` is set; on SQLite only while no other process delivers from the file."""
    with _exclusive(stopped) as may_run:
        if not may_run:
            return
        listener = Listener() if on_postgresql() else None
        connections.close_all()
        workers = channel_workers()
        threads = [threading.Thread(target=worker.run, name=f"delivery-{worker.channel}") for worker in workers]
        for thread in threads:
            thread.daemon = True
            thread.start()
        if listener is not None:
            listener.start()
        stopped.wait()
        for worker in workers:
            worker.stop()
        if listener is not None:
            listener.stop()
        for thread in threads:
            thread.join(conf.STOP_SECONDS + 3)


@contextlib.contextmanager
def run_in_thread() -> Iterator[None]:
    """Deliver from a thread of this process while the block runs.

    After it, what is being sent is finished; everything else goes back to the queue.
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
    """On SQLite: wait until this process is the only one that delivers from the file.

    The lock is one of the operating system on a file beside the database. It ends with its process, so the next
    process may release every leased row at once.
    """
    if on_postgresql():
        yield True
        return
    has_warned = False
    with Path(f"{connection.settings_dict['NAME']}.delivery").open("a") as lock:
        while not stopped.is_set():
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if not has_warned:
                    log.warning("Another process delivers from this database; waiting for it to end.")
                    has_warned = True
                stopped.wait(1)
            else:
                yield _release_old_leases(stopped)
                return
        yield False


def _release_old_leases(stopped: threading.Event) -> bool:
    """Releases the leases of the process before this one. Waits until the tables are migrated."""
    has_warned = False
    while not stopped.is_set():
        try:
            claims.release_all_leases()
        except DatabaseError as error:
            if not has_warned:
                log.warning("The database cannot be used for delivery yet: %s. Trying again every second.", error)
                has_warned = True
            connections.close_all()
            stopped.wait(1)
        else:
            return True
    return False
