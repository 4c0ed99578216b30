"""Paths of the socket; anything else is refused."""

from channels.routing import URLRouter
from django.urls import path, re_path

from realtime.consumers import refuse, serve

websocket_application = URLRouter(
    [
        path("api/v1/realtime", serve),  # type: ignore[arg-type]
        re_path(r"", refuse),  # type: ignore[arg-type]
    ]
)
