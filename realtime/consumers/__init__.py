"""The WebSocket entry point: a consumer, its authentication, command queue and outbox, and the hub of the process."""

from realtime.consumers.consumer import RealtimeConsumer
from realtime.consumers.hub import Hub

__all__ = ["Hub", "RealtimeConsumer"]
