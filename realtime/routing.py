"""Routes sockets: one path, for clients from allowed origins."""

from channels.routing import URLRouter
from django.urls import path, re_path

from realtime.consumers import RealtimeConsumer, SiteOriginValidator, refuse


def websocket_application(prefix: str) -> SiteOriginValidator:
    """The socket's path below `prefix` ("api/v1/"); any other path is refused with 403."""
    return SiteOriginValidator(
        URLRouter(
            [
                path(f"{prefix}realtime", RealtimeConsumer.as_asgi()),
                # The type stubs know views only.
                re_path("", refuse),  # type: ignore[arg-type]
            ]
        )
    )
