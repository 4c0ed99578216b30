"""Paths of the socket; anything else is refused."""

from channels.routing import URLRouter

websocket_application = URLRouter([])
