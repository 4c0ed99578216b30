"""One process for everything (`manage.py serve`), or the sockets of the fleet (uvicorn).

HTTP goes to the WSGI handler on a pool of threads: the views are synchronous, and a request that
crosses from the loop to a thread once costs a fraction of Django's own ASGI path.
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

from config.concurrency_limit import ConcurrencyLimit  # noqa: E402  (needs the app registry)
from config.transfer import BodiesFirst, Receive, Send, only_read, with_rooted_path, without_underscores  # noqa: E402
from core.conf import refuse_unsafe_settings  # noqa: E402
from core.database import leave_pool  # noqa: E402
from realtime.consumers import Hub  # noqa: E402
from realtime.routing import websocket_application  # noqa: E402

refuse_unsafe_settings()

threads = settings.REQUEST_THREADS
pages = BodiesFirst(ConcurrencyLimit(WSGIMiddleware(django, workers=threads), slots=threads))  # type: ignore[arg-type]


def watch(environ: dict[str, Any], start_response: Any) -> Any:
    leave_pool()
    return django(environ, start_response)


# Health checks and metrics are answered even when all threads hang and the pool is empty: each has a thread and a
# connection of its own.
watched = {
    path: only_read(WSGIMiddleware(watch, workers=1))  # type: ignore[arg-type]
    for path in ("/healthz", "/readyz", "/metrics")
}


async def http(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    await watched.get(scope["path"], pages)(without_underscores(scope), receive, send)


router = ProtocolTypeRouter({"http": http, "websocket": websocket_application("api/v1/")})


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    # Starts the sweep of deadlines, which must run even when no socket has been opened since the process started.
    Hub.here().start()
    if not scope.get("path", "/").startswith("/"):
        scope = with_rooted_path(scope)
    await router(scope, receive, send)


process.loaded()
