"""Wakes the processes that hold a user's sockets after a change.

A message of at most 8 KiB goes to one user's sockets. With Redis it is one PUBLISH in the format of the pub/sub channel
layer, on a persistent connection: a view is synchronous, and the layer's own `group_send` would cost twenty times as
much. Without Redis it goes directly to the event loop of this process. A message may be lost: the database is the
source of truth.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from functools import cache
from types import UnionType
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args, get_origin, get_type_hints

import redis
from channels.layers import get_channel_layer
from channels_redis.utils import _consistent_hash
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from core import redis_servers
from core.conf import project
from realtime.conf import conf

logger = logging.getLogger("parley.realtime")


class ForUser(TypedDict):
    """A message; its `type` names the method of the consumer that handles it (`on_frame`)."""

    user_id: int


# A short new message comes with its wake-up: docs/decisions/real-time.md#0075
class NewEvents(ForUser):
    """The log has grown to `seq`. The message may hold its last events and a copy of the newest chat message."""

    type: Literal["new_events"]
    seq: int
    events: NotRequired[list[list[Any]]]
    copy: NotRequired[list[Any] | None]


class PollPosition(ForUser):
    """The log may have grown while this process had no subscription."""

    type: Literal["poll_position"]


class Frame(ForUser):
    """A frame that is not in the log, for all sockets of the user or for `only` one."""

    type: Literal["frame"]
    frame: dict[str, Any]
    droppable: bool
    only: NotRequired[str]


class Watch(ForUser):
    """The socket now gets the presence of these users."""

    type: Literal["watch"]
    only: str
    watched_ids: list[int]


class End(ForUser):
    """These sessions have ended; `code` is the reason that their clients get."""

    type: Literal["end"]
    session_ids: list[int]
    code: str


class TooManySockets(ForUser):
    """Newer sockets have replaced these."""

    type: Literal["too_many_sockets"]
    socket_ids: list[str]


class Recheck(ForUser):
    """The sockets check whether they may stay open."""

    type: Literal["recheck"]


Message = NewEvents | PollPosition | Frame | Watch | End | TooManySockets | Recheck
Deliver = Callable[[Message], None]

_MESSAGES: tuple[Any, ...] = get_args(Message)


def _classes(hint: Any) -> tuple[type, ...]:
    """The classes of the values that an annotation allows, without what they contain."""
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(get_origin(option) or option for option in options)


# Type of a message → its fields, with the classes of their values.
_FIELDS = {
    get_args(hints.pop("type"))[0]: {name: _classes(hint) for name, hint in hints.items()}
    for hints in map(get_type_hints, _MESSAGES)
}
_REQUIRED = {get_args(get_type_hints(kind)["type"])[0]: kind.__required_keys__ - {"type"} for kind in _MESSAGES}


def is_message(value: Any) -> bool:
    """Whether it has the shape of a message, because others may be able to write to Redis."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or value["type"] not in _FIELDS:
        return False
    fields = _FIELDS[value["type"]]
    if not _REQUIRED[value["type"]] <= value.keys() <= fields.keys() | {"type"}:
        return False
    return all(type(value[name]) in classes for name, classes in fields.items() if name in value)


# The hubs of this process, by their event loop.
_hubs: dict[asyncio.AbstractEventLoop, Deliver] = {}
# A shard that failed is not tried again before this time (time.monotonic), so that an unreachable Redis delays a
# request by half a second only now and then.
_paused_until: dict[int, float] = {}


def group_of(user_id: int) -> str:
    """The channel layer's group of a user's sockets."""
    return f"u.{user_id}"


def frame_message(user_id: int, frame: dict[str, Any], *, only: str | None = None, droppable: bool = True) -> Frame:
    """An ephemeral frame (`type`, `data`) for all sockets of a user, or `only` for one (its id).

    A droppable one is skipped for a socket whose client lags behind.
    """
    message = Frame(type="frame", user_id=user_id, frame=frame, droppable=droppable)
    if only is not None:
        message["only"] = only
    return message


def publish(messages: Iterable[Message]) -> None:
    """Sends messages to the processes that hold sockets of their users. Never raises, never blocks for long."""
    deliver_here(_publish_to_redis(messages) if project.REDIS_URL else messages)


def register(deliver: Deliver) -> None:
    """Registers the hub of the running event loop for messages published in this process."""
    _hubs[asyncio.get_running_loop()] = deliver


def deliver_here(messages: Iterable[Message]) -> None:
    """Passes messages to the sockets of this process only, even while Redis is unavailable."""
    messages = list(messages)
    for loop, deliver in list(_hubs.items()):
        for message in messages:
            try:
                loop.call_soon_threadsafe(deliver, message)
            except RuntimeError:  # the loop has been closed
                _hubs.pop(loop, None)
                break


def _publish_to_redis(messages: Iterable[Message]) -> list[Message]:
    """Publishes messages; returns those whose server does not answer."""
    clients = _redis_clients()
    by_shard: dict[int, list[tuple[Message, str, bytes]]] = {}
    for message in messages:
        channel, content = published_form(message)
        by_shard.setdefault(_consistent_hash(channel, len(clients)), []).append((message, channel, content))
    unsent: list[Message] = []
    for shard, own in by_shard.items():
        if not _publish_to_shard(shard, clients[shard], [(channel, content) for _, channel, content in own]):
            unsent += [message for message, *_ in own]
    return unsent


def _publish_to_shard(shard: int, client: redis.Redis, published: Iterable[tuple[str, bytes]]) -> bool:
    if time.monotonic() < _paused_until.get(shard, 0):
        return False
    try:
        pipeline = client.pipeline(transaction=False)
        for channel, content in published:
            pipeline.publish(channel, content)
        pipeline.execute()
    except (redis.RedisError, OSError) as error:
        _paused_until[shard] = time.monotonic() + conf.WAKE_PAUSE_SECONDS
        logger.warning("wake-ups pause: Redis does not answer (%s)", error.__class__.__name__)
        return False
    return True


def published_form(message: Message) -> tuple[str, bytes]:
    """The Redis channel and the bytes that the pub/sub layer's own group_send would use."""
    prefix = cast(Any, settings.CHANNEL_LAYERS)["default"]["CONFIG"]["prefix"]
    return f"{prefix}__group__{group_of(message['user_id'])}", get_channel_layer().serialize(message)


@cache
def _redis_clients() -> list[redis.Redis]:
    """One client for each shard, in the order of the channel layer's hosts."""
    return [
        server.client(
            socket_connect_timeout=conf.WAKE_TIMEOUT_SECONDS,
            socket_timeout=conf.WAKE_TIMEOUT_SECONDS,
            socket_keepalive=True,
            # Retry once on a new connection, because the kept one may be from before a restart of Redis.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            retry_on_timeout=False,
        )
        for server in redis_servers.configured()
    ]
