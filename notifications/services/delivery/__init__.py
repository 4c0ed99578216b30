"""Outgoing deliveries: queued in the transaction of their cause, sent by a worker, logged in the same row."""

from notifications.services.delivery.outbox import (
    cancel,
    cancel_call_push,
    enqueue_call_push,
    enqueue_push,
    enqueue_test_push,
    retry,
    send_test_push,
)
from notifications.services.delivery.push_handler import SocketStatus, SocketStatusQuery, register_socket_statuses
from notifications.services.delivery.supervisor import run, run_in_thread
