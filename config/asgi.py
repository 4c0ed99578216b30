"""One process for everything (`manage.py serve`), or the sockets of the fleet (uvicorn).

HTTP goes to the WSGI handler on a pool of threads, because the views are synchronous. A request crosses from the loop
to a thread once, at a fraction of the cost of Django's own ASGI path.
"""

import os
from typing import Any

from a2wsgi import WSGIMiddleware
from channels.routing import ProtocolTypeRouter
from django.core.wsgi import get_wsgi_application

from core import process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("DATABASE_CONNECTIONS", "pool")

process.loading()
django = get_wsgi_application()

from django.conf import settings  # noqa: E402

from core.conf import refuse_unsafe_settings  # noqa: E402
from core.database.connections import leave_pool  # noqa: E402
from realtime.consumers import Hub  # noqa: E402
from realtime.routing import websocket_application  # noqa: E402
from server.concurrency_limit import (  # noqa: E402  (needs the app registry)
    HASHING_WAIT_SECONDS,
    ConcurrencyLimit,
    hashes_password,
    hashing_slots,
)
from server.request_bodies import ReadBodyFirst, Receive, Send, normalise_path, read_only, without_underscores  # noqa: E402

refuse_unsafe_settings()

threads = settings.REQUEST_THREADS
pages = ReadBodyFirst(
    ConcurrencyLimit(
        ConcurrencyLimit(WSGIMiddleware(django, workers=threads), slots=threads),  # type: ignore[arg-type]
        slots=hashing_slots(threads),
        wait_seconds=HASHING_WAIT_SECONDS,
        counted=hashes_password,
    )
)


def watch(environ: dict[str, Any], start_response: Any) -> Any:
    leave_pool()
    return django(environ, start_response)


# Health checks and metrics each have a thread and a connection of their own, so that they are answered even when all
# threads hang and the pool is empty.
watched = {
    path: read_only(WSGIMiddleware(watch, workers=1))  # type: ignore[arg-type]
    for path in ("/healthz", "/readyz", "/metrics")
}


async def http(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    await watched.get(scope["path"], pages)(without_underscores(scope), receive, send)


router = ProtocolTypeRouter({"http": http, "websocket": websocket_application("api/v1/")})


# docs/decisions/serving.md#0001 explains why this is not Django's own ASGI handler.
async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    # Starts the sweep of deadlines, which must run even before the first socket of the process.
    Hub.here().start()
    if not scope.get("path", "/").startswith("/"):
        scope = normalise_path(scope)
    await router(scope, receive, send)


process.loaded()
