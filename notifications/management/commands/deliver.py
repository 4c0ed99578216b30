"""`manage.py deliver`: sends mail and push. On PostgreSQL run as many as you like."""

import signal
import threading
from typing import Any

from core import process
from core.commands import PlainCommand
from core.conf import refuse_unsafe_settings
from notifications.services import delivery


class Command(PlainCommand):
    help = "Send queued mail and push until SIGTERM or Ctrl-C; unsent messages go back to the queue."

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_unsafe_settings(is_command=True)
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        process.loaded()
        self.report("Delivering.")
        delivery.run(stopped)
        self.report("Stopped.")
