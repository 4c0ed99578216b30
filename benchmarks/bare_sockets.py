"""The baselines of the socket benchmarks: a bare ASGI application, and a bare Channels consumer with the
pub/sub layer or Channels' core layer. All relay a text frame to one other socket, without database, sign-in or log.

Two are lower bounds: a consumer that asks the database one question for each frame before it relays it, and one
that stores each frame as the bare view stores a message. A third passes on what the bare view publishes."""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection
from django.urls import path
from redis.asyncio import Redis

from benchmarks import bare as bare_project

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


threads = ThreadPoolExecutor(4)


def question(name):
    """One SELECT by a primary key."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_id FROM bare_session WHERE sid = %s AND ended_at IS NULL", ["s"])
        return cursor.fetchone()


class CheckedRelay(Relay):
    """One question when it opens and one for each frame."""

    async def connect(self):
        await asyncio.get_running_loop().run_in_executor(threads, question, "s")
        await super().connect()

    async def receive(self, text_data=None, bytes_data=None):
        await asyncio.get_running_loop().run_in_executor(threads, question, "s")
        await super().receive(text_data)


class StoringRelay(Relay):
    """Stores a message, replies to its sender and relays it."""

    async def receive(self, text_data=None, bytes_data=None):
        frame = json.loads(text_data)
        stored = await asyncio.get_running_loop().run_in_executor(
            threads, bare_project.store, frame["conversation_id"], 1, frame["body"]
        )
        await self.send(json.dumps(stored))
        await super().receive(text_data)


async def published(scope, receive, send):
    """Passes on what is published for the conversation in its query string."""
    async with Redis.from_url(settings.REDIS_URL).pubsub() as subscription:
        await subscription.subscribe(bare_project.channel(int(scope["query_string"])))
        await subscription.get_message(timeout=5)
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            message = await subscription.get_message(ignore_subscribe_messages=True, timeout=5)
            if message is not None:
                await send({"type": "websocket.send", "text": message["data"].decode()})


async def health(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


application = ProtocolTypeRouter(
    {
        "http": health,
        "websocket": URLRouter(
            [
                path("bare", bare),
                path("channels", Relay.as_asgi()),
                path("core", CoreRelay.as_asgi()),
                path("checked", CheckedRelay.as_asgi()),
                path("storing", StoringRelay.as_asgi()),
                path("published", published),
            ]
        ),
    }
)
