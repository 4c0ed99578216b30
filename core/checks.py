"""System checks of secrets and of values read from Redis. They open no connection."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.utils.module_loading import import_string

from core import secret_settings
from core.redis_servers import JsonSerializer

# Caches that other processes cannot write to, or whose serializer is ours.
SAFE_CACHES = frozenset(
    {
        "django.core.cache.backends.locmem.LocMemCache",
        "django.core.cache.backends.dummy.DummyCache",
        "core.redis_servers.ConfiguredRedisCache",
    }
)
SAFE_FORMATS = ("msgpack", "json")


@register(Tags.security)
def secrets_are_long(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """core.E001: a short secret can be guessed. Names inside a variable must not be repeated in the error: if a key
    contains a separator, such a name is a part of the key."""
    return [
        Error(f"{setting.variable} holds less than {setting.least_bytes} bytes.", hint=setting.hint, id="core.E001")
        for setting in secret_settings.all_settings()
        if setting.is_short()
    ]


@register(Tags.security)
def nothing_is_unpickled(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """core.E002: unpickling runs code from anyone who can write to Redis or sign a cookie."""
    hint = "Use a serializer that reads data only: JSON or msgpack."
    return [Error(f"{name} may unpickle.", hint=hint, id="core.E002") for name in _pickling()]


def _pickling() -> Iterator[str]:
    for alias, cache in settings.CACHES.items():
        backend, serializer = cache["BACKEND"], cache.get("OPTIONS", {}).get("serializer")
        if serializer is not None and not _is_json(serializer):
            yield f"CACHES[{alias!r}]: {serializer}"
        elif serializer is None and backend not in SAFE_CACHES:
            yield f"CACHES[{alias!r}]: {backend}"
    for alias, layer in getattr(settings, "CHANNEL_LAYERS", {}).items():
        serializer_format = layer.get("CONFIG", {}).get("serializer_format", "msgpack")
        if serializer_format not in SAFE_FORMATS:
            yield f"CHANNEL_LAYERS[{alias!r}]: {serializer_format}"
    if "pickle" in settings.SESSION_SERIALIZER.lower():
        yield f"SESSION_SERIALIZER: {settings.SESSION_SERIALIZER}"
    # Django's own message storages (cookie, session) write JSON.
    if not settings.MESSAGE_STORAGE.startswith("django.contrib.messages.storage."):
        yield f"MESSAGE_STORAGE: {settings.MESSAGE_STORAGE}"


def _is_json(serializer: Any) -> bool:
    made = import_string(serializer) if isinstance(serializer, str) else serializer
    return made is JsonSerializer or isinstance(made, JsonSerializer)
