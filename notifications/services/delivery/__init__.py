"""Everything that leaves the house: queued with its cause, sent by a worker, logged in one row."""

from notifications.services.delivery.interim import cancel, enqueue_push
from notifications.services.delivery.queue import enqueue_mail
from notifications.services.delivery.running import run, start_thread, stop

__all__ = ["cancel", "enqueue_mail", "enqueue_push", "run", "start_thread", "stop"]
