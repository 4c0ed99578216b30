"""Everything that leaves the house: queued with its cause, sent by a worker, logged in one row."""

from notifications.services.delivery.mail_queue import enqueue_mail
from notifications.services.delivery.presence import Sighting, register_presence
from notifications.services.delivery.push_queue import (
    cancel,
    enqueue_call_push,
    enqueue_push,
    enqueue_test_push,
)
from notifications.services.delivery.running import run, start_thread, stop

__all__ = [
    "Sighting",
    "cancel",
    "enqueue_call_push",
    "enqueue_mail",
    "enqueue_push",
    "enqueue_test_push",
    "register_presence",
    "run",
    "start_thread",
    "stop",
]
