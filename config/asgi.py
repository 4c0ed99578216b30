"""One process for everything (`manage.py serve`), or the sockets of the fleet (uvicorn).

HTTP goes to the WSGI handler on a pool of threads: the views are synchronous, and a request that
crosses from the loop to a thread once costs a fraction of Django's own ASGI path.
"""

import os
from collections.abc import Callable
from typing import Any

from a2wsgi import WSGIMiddleware
from channels.routing import ProtocolTypeRouter
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("DATABASE_CONNECTIONS", "pool")

http = WSGIMiddleware(get_wsgi_application(), workers=16)  # type: ignore[arg-type]

from realtime.consumers import Hub  # noqa: E402  (needs the app registry)
from realtime.routing import websocket_application  # noqa: E402

router = ProtocolTypeRouter({"http": http, "websocket": websocket_application})


async def application(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
    # What runs out ends in time, although nobody may hold a socket since the process started.
    Hub.here().start()
    await router(scope, receive, send)
