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

django = get_wsgi_application()

from django.conf import settings  # noqa: E402

from accounts.connections import leave_pool  # noqa: E402
from config.admission import Admission  # noqa: E402  (needs the app registry)
from realtime.consumers import Hub  # noqa: E402
from realtime.routing import websocket_application  # noqa: E402

places = settings.REQUEST_THREADS
pages = Admission(WSGIMiddleware(django, workers=places), places=places)  # type: ignore[arg-type]


def watch(environ: dict[str, Any], start_response: Any) -> Any:
    leave_pool()
    return django(environ, start_response)


# Whoever watches over the process is answered when all threads hang and the pool is empty, too: each question has
# a thread of its own, with a connection of its own.
watched = {path: WSGIMiddleware(watch, workers=1) for path in ("/healthz", "/readyz", "/metrics")}  # type: ignore[arg-type]


async def http(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
    await watched.get(scope["path"], pages)(scope, receive, send)  # type: ignore[arg-type]


router = ProtocolTypeRouter({"http": http, "websocket": websocket_application})


async def application(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
    # What runs out ends in time, although nobody may hold a socket since the process started.
    Hub.here().start()
    await router(scope, receive, send)
