"""The WebSocket entry point: a connection, its outbox, its command processor, and the hub of the process."""

from realtime.consumers.connection import refuse, serve
from realtime.consumers.hub import Hub

__all__ = ["Hub", "refuse", "serve"]
