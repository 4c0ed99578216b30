"""The socket's door: one connection, its sender, its worker, and the hub of the process."""

from realtime.consumers.connection import refuse, serve
from realtime.consumers.hub import Hub

__all__ = ["Hub", "refuse", "serve"]
