"""Parses REDIS_URL: one server, several that share the load, or a service watched by Sentinel.

    redis://host:6379/0                                       one server (rediss:// with TLS, unix://path)
    redis://a:6379/0,redis://b:6379/0                         shards: each user's wake-ups go through one of them
    redis+sentinel://user:pass@s1:26379,s2:26379/service/0    Sentinel names the server that is primary now

The channel layer, the wake-ups and the cache read the same setting.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.sentinel import Sentinel

from core.conf import project

PLAIN_SCHEMES = ("redis://", "rediss://", "unix://")
SENTINEL_SCHEME = "redis+sentinel://"
SENTINEL_PORT = 26379


@dataclass(frozen=True)
class RedisServer:
    """One server, by its address, or one service, by its sentinels."""

    address: str = ""
    service: str = ""
    sentinels: Sequence[tuple[str, int]] = ()
    # For a service: the number of its database, and the credentials.
    login: dict[str, Any] = field(default_factory=dict)

    def for_channel_layer(self, **options: Any) -> dict[str, Any]:
        """An entry of `hosts` of the channel layer."""
        if self.address:
            return {"address": self.address, **options}
        return {
            "master_name": self.service,
            "sentinels": self.sentinels,
            "sentinel_kwargs": _sentinel_options(options),
            **self.login,
            **options,
        }

    def client(self, **options: Any) -> redis.Redis:
        """A client with a pool of its own; with Sentinel every new connection asks for the current primary."""
        if self.address:
            return redis.Redis.from_url(self.address, **options)
        sentinel = Sentinel(self.sentinels, sentinel_kwargs=_sentinel_options(options))
        primary: redis.Redis = sentinel.master_for(self.service, **self.login, **options)
        return primary


def parse(value: str) -> list[RedisServer]:
    """The servers that a REDIS_URL names, none if it is empty. ValueError for anything else."""
    if not value:
        return []
    if value.startswith(SENTINEL_SCHEME):
        return [_sentinel_service(value.removeprefix(SENTINEL_SCHEME))]
    addresses = [part.strip() for part in value.split(",")]
    if not all(_is_address(address) for address in addresses):
        raise ValueError("not the address of a Redis server")
    return [RedisServer(address=address) for address in addresses]


def configured() -> list[RedisServer]:
    """The servers of this deployment."""
    return parse(project.REDIS_URL)


def _is_address(address: str) -> bool:
    """Whether the library can use it; ValueError for an invalid port or option.

    The database must be a number: the library would take a word for database 0.
    """
    if not address.startswith(PLAIN_SCHEMES):
        return False
    try:
        # Opens no connection, but finds unknown options now instead of at the first connection.
        redis.ConnectionPool.from_url(address).make_connection()
    except TypeError as error:
        raise ValueError("an option that the library does not have") from error
    parts = urlsplit(address)
    if parts.scheme == "unix":
        return bool(parts.path.strip("/"))
    return parts.port != 0 and (parts.path in ("", "/") or parts.path.removeprefix("/").isdecimal())


def _sentinel_service(rest: str) -> RedisServer:
    user_info, _, location = rest.rpartition("@")
    hosts, _, path = location.partition("/")
    service, _, database = path.partition("/")
    if not hosts or not service or not (database or "0").isdecimal():
        raise ValueError("redis+sentinel:// needs hosts and the name of the service")
    username, _, password = user_info.rpartition(":")
    credentials = {"username": unquote(username), "password": unquote(password)}
    return RedisServer(
        service=service,
        sentinels=[_host_and_port(host) for host in hosts.split(",")],
        login={"db": int(database or "0")} | {name: text for name, text in credentials.items() if text},
    )


def _host_and_port(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    if not separator:
        host, port = text, str(SENTINEL_PORT)
    if not host or not port.isdecimal():
        raise ValueError("a sentinel is host:port")
    return host, int(port)


def _sentinel_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("socket_timeout", "socket_connect_timeout") if name in options}


# Not pickle: docs/decisions/serving.md#0093
class JsonSerializer:
    """Stores values as JSON. Django's own serializer unpickles, so anyone who can write to Redis could run code here.

    Integers stay as they are, for `incr`. A value that is not JSON is read as None, like a missing one.
    """

    def dumps(self, value: Any) -> int | bytes:
        return value if type(value) is int else json.dumps(value, separators=(",", ":")).encode()

    def loads(self, data: Any) -> Any:
        try:
            return json.loads(data)
        except (ValueError, TypeError, RecursionError):
            return None


class ConfiguredRedisClient(RedisCacheClient):
    """Keeps the counters on the first server, which Sentinel may replace. An unreadable value counts as missing."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, serializer=cast(Any, JsonSerializer))
        self._options = options

    def get(self, key: Any, default: Any) -> Any:
        try:
            value = super().get(key, None)
        except redis.ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            self.delete(key)
            return default
        return default if value is None else value

    def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        return {key: value for key, value in super().get_many(keys).items() if value is not None}

    def incr(self, key: Any, delta: Any) -> int:
        """A value that is not a number is removed, and raises ValueError like a missing key."""
        try:
            number: int = super().incr(key, delta)
        except redis.ResponseError as error:
            self.delete(key)
            raise ValueError(f"Key {key!r} holds no number") from error
        return number

    @cached_property
    def _connected(self) -> redis.Redis:
        return configured()[0].client(**self._options)

    def get_client(self, key: Any = None, *, write: bool = False) -> redis.Redis:
        return self._connected


class ConfiguredRedisCache(RedisCache):
    """Django's Redis cache on the servers of REDIS_URL."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__("", params)
        self._class = ConfiguredRedisClient
