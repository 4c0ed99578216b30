"""The socket's door: one connection, its sender, its worker, and the hub of the process."""

from realtime.consumers.connection import refuse, serve

__all__ = ["refuse", "serve"]
