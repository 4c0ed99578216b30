"""Everything that leaves the house: queued with its cause, sent by a worker, logged in one row."""

from notifications.services.delivery.mail_queue import discard_mail, enqueue_mail
from notifications.services.delivery.operating import (
    devices_of,
    figures,
    retriable,
    retry,
    try_devices,
)
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
    "devices_of",
    "discard_mail",
    "enqueue_call_push",
    "enqueue_mail",
    "enqueue_push",
    "enqueue_test_push",
    "figures",
    "register_presence",
    "retriable",
    "retry",
    "run",
    "start_thread",
    "stop",
    "try_devices",
]
