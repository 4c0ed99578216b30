"""The baselines of the socket benchmarks: a bare ASGI application, and a bare Channels consumer with the
pub/sub layer or Channels' core layer. All relay a text frame to one other socket, without database, sign-in or log."""

import json
import os

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
get_asgi_application()

layer = settings.CHANNEL_LAYERS["default"]
if layer["BACKEND"].endswith("RedisPubSubChannelLayer"):
    config = layer["CONFIG"] | {"prefix": f"{layer['CONFIG']['prefix']}-core"}
    settings.CHANNEL_LAYERS["core"] = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": config}

peers = {}


async def bare(scope, receive, send):
    """Relays a frame {"to": name, …} to the socket with that name in its query string."""
    name = scope["query_string"].decode()
    await receive()
    await send({"type": "websocket.accept"})
    peers[name] = send
    try:
        while (message := await receive())["type"] == "websocket.receive":
            await peers[json.loads(message["text"])["to"]]({"type": "websocket.send", "text": message["text"]})
    finally:
        peers.pop(name, None)


class Relay(AsyncWebsocketConsumer):
    async def connect(self):
        self.group = "bench." + self.scope["query_string"].decode()
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()

    async def disconnect(self, code):
        await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data=None, bytes_data=None):
        to = json.loads(text_data)["to"]
        await self.channel_layer.group_send(f"bench.{to}", {"type": "relay", "text": text_data})

    async def relay(self, event):
        await self.send(event["text"])


class CoreRelay(Relay):
    channel_layer_alias = "core"


async def health(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


application = ProtocolTypeRouter(
    {
        "http": health,
        "websocket": URLRouter(
            [path("bare", bare), path("channels", Relay.as_asgi()), path("core", CoreRelay.as_asgi())]
        ),
    }
)
