"""How a process that changed something wakes the processes that hold sockets.

A message is a small dict for one person's sockets. With Redis it is one PUBLISH in the format of the
pub/sub channel layer, on a connection that is kept, because a view is synchronous and the layer's own
`group_send` would cost twenty times as much. Without Redis it goes straight to the event loop of this
process. Either may lose it: what is true stands in the database.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from realtime.conf import conf

logger = logging.getLogger("parley.realtime")

Message = dict[str, Any]
Deliver = Callable[[Message], None]

# The hubs of this process, by the loop that each lives on.
_hubs: dict[asyncio.AbstractEventLoop, Deliver] = {}
_client: redis.Redis | None = None
_client_lock = threading.Lock()
# After a failure nobody tries before this moment (time.monotonic), so that a dead Redis costs one
# request half a second now and then, and not every request.
_paused_until = 0.0


def group_of(user_id: int) -> str:
    """The channel layer's group of a person's sockets."""
    return f"u.{user_id}"


def wake(heads: Mapping[int, int], lines: Mapping[int, list[list[Any]]]) -> None:
    """The logs of these people (by id) have grown to these numbers, perhaps by these lines."""
    publish(
        [
            {"type": "wake", "user_id": user_id, "seq": seq, "lines": lines.get(user_id, [])}
            for user_id, seq in heads.items()
        ]
    )


def tell(
    user_id: int,
    frame: Mapping[str, Any],
    *,
    only: str | None = None,
    but: str | None = None,
    droppable: bool = True,
) -> None:
    """An ephemeral frame (`type`, `data`) for a person's sockets: all, `only` one, or all `but` one (ids).

    A droppable one is skipped for a socket whose client lags behind.
    """
    publish([frame_message(user_id, frame, only=only, but=but, droppable=droppable)])


def frame_message(
    user_id: int, frame: Mapping[str, Any], *, only: str | None = None, but: str | None = None, droppable: bool = True
) -> Message:
    """What `tell` publishes; several of them can go out in one `publish`."""
    message = {"type": "frame", "user_id": user_id, "frame": dict(frame), "droppable": droppable}
    if only is not None:
        message["only"] = only
    if but is not None:
        message["but"] = but
    return message


def watch_message(user_id: int, socket_id: str, watched_ids: Iterable[int]) -> Message:
    """From now on this socket passes on the presence of these people only."""
    return {"type": "watch", "user_id": user_id, "only": socket_id, "watched_ids": list(watched_ids)}


def end_sessions(user_id: int, session_ids: Iterable[int], code: str) -> None:
    """The sockets of these sessions close with 4401 and this code as the reason."""
    publish([{"type": "end", "user_id": user_id, "session_ids": list(session_ids), "code": code}])


def close_sockets(user_id: int, socket_ids: Iterable[str]) -> None:
    """A person has too many sockets: these close with 4409."""
    publish([{"type": "crowded", "user_id": user_id, "socket_ids": list(socket_ids)}])


def recheck(user_id: int) -> None:
    """The sockets of a person look again whether they may stay open."""
    publish([{"type": "recheck", "user_id": user_id}])


def publish(messages: Iterable[Message]) -> None:
    """Hands messages to whoever holds sockets of their people. Never raises, never waits for long."""
    messages = list(messages)
    if not messages:
        return
    if not settings.REDIS_URL or not _publish_to_redis(messages):
        _deliver_here(messages)


def register(deliver: Deliver) -> None:
    """The hub of the running loop: from now on it hears what is published in this process."""
    _hubs[asyncio.get_running_loop()] = deliver


def _deliver_here(messages: Iterable[Message]) -> None:
    for loop, deliver in list(_hubs.items()):
        for message in messages:
            try:
                loop.call_soon_threadsafe(deliver, message)
            except RuntimeError:  # the loop has been closed
                _hubs.pop(loop, None)
                break


def _publish_to_redis(messages: Iterable[Message]) -> bool:
    global _paused_until
    if time.monotonic() < _paused_until:
        return False
    try:
        with _redis().pipeline(transaction=False) as pipeline:
            for message in messages:
                pipeline.publish(*published_form(message))
            pipeline.execute()
    except (redis.RedisError, OSError) as error:
        _paused_until = time.monotonic() + conf.WAKE_PAUSE_SECONDS
        logger.warning("wake-ups pause: Redis does not answer (%s)", error.__class__.__name__)
        return False
    return True


def published_form(message: Message) -> tuple[str, bytes]:
    """The Redis channel and the bytes that the pub/sub layer's own group_send would use."""
    prefix = settings.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"]  # type: ignore[index]
    return f"{prefix}__group__{group_of(message['user_id'])}", get_channel_layer().serialize(message)


def _redis() -> redis.Redis:
    global _client
    if _client is None:
        with _client_lock:
            if _client is None:
                _client = redis.Redis.from_url(
                    settings.REDIS_URL,
                    socket_connect_timeout=conf.WAKE_TIMEOUT_SECONDS,
                    socket_timeout=conf.WAKE_TIMEOUT_SECONDS,
                    socket_keepalive=True,
                    # Once more on a fresh connection: the kept one may be from before a restart of Redis.
                    retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
                    retry_on_timeout=False,
                )
    return _client
