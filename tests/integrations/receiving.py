"""Receivers of events in tests, and the setting that leads to them."""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from portal.development.webhook_receiver import Receiver, ReceiverServer

KEY = b"k" * 32
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


@contextmanager
def receiver(name: str = "shop", types: str = "*", port: int = 0, **options) -> Iterator[tuple[Receiver, str]]:
    """A receiver that runs while the block does, on a free port unless one is given, and its entry in WEBHOOKS."""
    made = Receiver([KEY], **options)
    server = ReceiverServer(("127.0.0.1", port), made)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made, f"{name}|http://127.0.0.1:{server.server_address[1]}/hook?x=1|{SECRET}|{types}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
