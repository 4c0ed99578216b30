"""Outgoing deliveries: queued in the transaction of their cause, sent by a worker, and kept as a log."""

from notifications.services.delivery.outbox import (
    cancel,
    cancel_call_push,
    cancel_webhooks,
    enqueue_call_push,
    enqueue_push,
    enqueue_test_push,
    enqueue_webhooks,
    retry,
    send_test_push,
)
from notifications.services.delivery.push_handler import SocketStatus, SocketStatusQuery, register_socket_statuses
from notifications.services.delivery.read_elsewhere import WAS_PUSHED, enqueue_read_push, pushes_sent
from notifications.services.delivery.sending import DeliveryHandler, Job
from notifications.services.delivery.supervisor import register_webhooks, run, run_in_thread
from notifications.services.delivery.wakeups import wake_on_commit
