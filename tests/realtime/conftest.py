"""A real uvicorn with the product's own settings, in a thread of the test process: it shares the test
database, so people and sign-ins come from the usual fixtures."""

import threading

import pytest
from django.db import connection

from realtime.consumers import database
from tests.realtime.live import LiveServer, SocketClient


def close_connections():
    """Ends the threads of sockets and their connections: a test database cannot be dropped under them."""
    pool = database._executor()
    database._executor.cache_clear()
    # Each thread takes one of these, as all wait for each other.
    together = threading.Barrier(pool._max_workers)

    def close():
        together.wait(10)
        connection.close()

    for closed in [pool.submit(close) for _ in range(pool._max_workers)]:
        closed.result(20)
    pool.shutdown()


@pytest.fixture
def live(transactional_db):
    server = LiveServer()
    server.start()
    yield server
    server.stop()
    close_connections()


@pytest.fixture
def open_socket(live):
    """Opens sockets with a token, and closes them when the test ends."""
    opened = []

    def open_one(token=None, **options):
        client = SocketClient(live, token, **options)
        opened.append(client)
        return client

    yield open_one
    for client in opened:
        client.close()
