"""Whose connection it is: the pool of a process is for its requests, which come and go.

A thread that holds a connection for as long as it lives would take it out of the pool for ever, and a few
such threads leave a small pool empty.
"""

from django.db import connection


def leave_pool() -> None:
    """From now on this thread has a connection of its own, whatever others hold. Without a pool it always has."""
    leave = getattr(connection, "leave_pool", None)
    if leave is not None:
        leave()
