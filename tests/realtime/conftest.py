"""A real uvicorn with the product's own settings, in a thread of the test process: it shares the test
database, so people and sign-ins come from the usual fixtures."""

import pytest

from realtime.consumers import database
from tests.realtime.live import LiveServer, SocketClient


@pytest.fixture
def live(transactional_db):
    server = LiveServer()
    server.start()
    yield server
    server.stop()
    database.close_connections()


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
