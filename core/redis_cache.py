"""Django's Redis cache on the servers of REDIS_URL."""

from functools import cached_property
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from core import redis_servers


class ConfiguredRedisClient(RedisCacheClient):
    """Keeps the counters on the first server, which Sentinel may replace."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers)
        self._options = {name: value for name, value in options.items() if name.startswith("socket_")}

    @cached_property
    def _connected(self) -> redis.Redis:
        return redis_servers.configured()[0].client(**self._options)

    def get_client(self, key: Any = None, *, write: bool = False) -> redis.Redis:
        return self._connected


class ConfiguredRedisCache(RedisCache):
    """Django's Redis cache on the servers of REDIS_URL."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__("", params)
        self._class = ConfiguredRedisClient
