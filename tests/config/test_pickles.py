"""Who can write to Redis, or into a cookie, runs no code here: nothing that is read there is unpickled."""

import base64
import os
import pickle
import secrets
from urllib.parse import urlsplit

import pytest
import redis
from django.core.cache import caches
from django.test import Client

from core.api import ratelimits
from core.checks import nothing_is_unpickled
from core.redis_servers import ConfiguredRedisCache, JsonSerializer
from tests.client import ApiClient
from tests.staff import admin_client, staff

# A database of its own: tests that run beside these clear theirs.
REDIS_URL = urlsplit(os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0"))._replace(path="/15").geturl()

calls = []


def call():
    calls.append("called")


class Bomb:
    def __reduce__(self):
        return (call, ())


# What is no value of ours, of every kind.
GARBAGE = [pickle.dumps(Bomb(), protocol) for protocol in (0, 2, pickle.HIGHEST_PROTOCOL)]
GARBAGE += [
    b"",
    b"\xff\xfe",
    b"null",
    b"true",
    b'"text"',
    b"-1",
    b"1e999",
    b"NaN",
    b"[[1]]",
    b'{"a": 1}',
    b"[" * 100_000,
]
GARBAGE += [b'[["2026-01-01", "x", "many"]]', b"[[1, 2, 3]]", b'[["2026-01-01", "x", true]]', b"9" * 5000]


@pytest.fixture
def shared_cache(settings):
    """The cache of a deployment in Redis. Yields a plain client and the prefix of its keys."""
    prefix = f"pickles-{secrets.token_hex(4)}"
    settings.REDIS_URL = REDIS_URL
    settings.CACHES = {"default": {"BACKEND": "core.redis_servers.ConfiguredRedisCache", "KEY_PREFIX": prefix}}
    client = redis.Redis.from_url(REDIS_URL)
    calls.clear()
    yield client, prefix
    if keys := client.keys(f"{prefix}*"):
        client.delete(*keys)


def test_the_bomb_is_one():
    calls.clear()
    pickle.loads(GARBAGE[0])
    assert calls == ["called"]


@pytest.mark.parametrize("value", GARBAGE, ids=lambda value: repr(value[:20]))
def test_no_value_of_a_key_that_is_used_runs_code_or_breaks_a_page(shared_cache, value, alice, settings):
    client, prefix = shared_cache
    settings.RATELIMIT_ENABLE = True
    auditor = admin_client(staff(is_superuser=True))

    def use():
        assert auditor.get("/admin/").status_code == 200
        assert ApiClient().raw(
            "POST", "/api/v1/auth/login", {"email": alice.email, "password": "wrong"}
        ).status_code in (401, 429)
        ratelimits.allows("writes", 7)

    use()
    keys = client.keys(f"{prefix}*")
    assert len(keys) > 5
    for key in keys:
        client.set(key, value, ex=600)
    use()
    use()
    assert calls == []


# What Redis itself keeps in another form than a text.
FORMS = {
    "list": lambda client, key: client.rpush(key, "1"),
    "set": lambda client, key: client.sadd(key, "1"),
    "sorted set": lambda client, key: client.zadd(key, {"1": 1}),
    "hash": lambda client, key: client.hset(key, "1", "1"),
    "stream": lambda client, key: client.xadd(key, {"1": "1"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_another_form_of_redis_counts_as_missing(shared_cache, form, alice, settings, caplog):
    client, prefix = shared_cache
    settings.RATELIMIT_ENABLE = True
    auditor = admin_client(staff(is_superuser=True))

    def use():
        assert auditor.get("/admin/").status_code == 200
        return ratelimits.allows("writes", 7)

    client.delete(*client.keys(f"{prefix}*"))  # of the sign-in
    use()
    keys = client.keys(f"{prefix}*")
    assert len(keys) > 5
    for key in keys:
        client.delete(key)
        FORMS[form](client, key)
    assert use() and use()
    assert {client.type(key) for key in keys} == {b"string"}
    assert not [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    cache = caches["default"]
    FORMS[form](client, cache.make_key("value"))
    assert cache.get_many(["value"]) == {} and cache.get("value", "default") == "default"


def test_counters_go_on_from_what_is_no_number(shared_cache):
    client, prefix = shared_cache
    cache = caches["default"]
    assert isinstance(cache, ConfiguredRedisCache)
    cache.set("number", 4)
    assert client.get(cache.make_key("number")) == b"4" and cache.incr("number") == 5
    client.set(cache.make_key("number"), GARBAGE[-1])
    with pytest.raises(ValueError):
        cache.incr("number")
    assert cache.add("number", 1) and cache.incr("number") == 2


@pytest.mark.parametrize("value", [1, -7, 0, 2**70, True, False, "text", [1, ["a"]], {"a": None}, 1.5, "12"])
def test_what_is_written_is_read(shared_cache, value):
    cache = caches["default"]
    cache.set("value", value, 60)
    assert cache.get("value") == value and type(cache.get("value")) is type(value)
    assert cache.get_many(["value", "none"]) == {"value": value}


def test_what_cannot_be_read_is_missing(shared_cache):
    client, _ = shared_cache
    cache = caches["default"]
    for value in (*GARBAGE[:6], b"[" * 100_000, b"9" * 5000):
        client.set(cache.make_key("value"), value)
        assert cache.get("value") is None and cache.get("value", "default") == "default"
        assert cache.get_many(["value"]) == {}
    assert calls == []


@pytest.mark.parametrize("name", ["sessionid", "messages", "trusted_device", "csrftoken"])
def test_no_cookie_is_unpickled(name, db):
    calls.clear()
    for value in (GARBAGE[0].decode("latin-1"), base64.b64encode(GARBAGE[1]).decode()):
        client = Client()
        client.cookies[name] = value
        for path in ("/admin/login/", "/admin/", "/"):
            assert client.get(path).status_code < 500
    assert calls == []


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("CACHES", {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}),
        ("CACHES", {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache"}}),
        ("CACHES", {"more": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache"}}),
        (
            "CACHES",
            {
                "default": {
                    "BACKEND": "core.redis_servers.ConfiguredRedisCache",
                    "OPTIONS": {"serializer": "django.core.cache.backends.redis.RedisSerializer"},
                }
            },
        ),
        ("CHANNEL_LAYERS", {"default": {"BACKEND": "x", "CONFIG": {"serializer_format": "pickle"}}}),
        ("SESSION_SERIALIZER", "django.contrib.sessions.serializers.PickleSerializer"),
        ("MESSAGE_STORAGE", "own.PickledStorage"),
    ],
)
def test_no_serializer_that_unpickles_may_be_configured(settings, setting, value):
    assert nothing_is_unpickled(None) == []
    setattr(settings, setting, value)
    (problem,) = nothing_is_unpickled(None)
    assert problem.id == "core.E002" and problem.hint and problem.is_serious()


def test_a_cache_with_our_serializer_is_allowed(settings):
    ours = f"{JsonSerializer.__module__}.{JsonSerializer.__qualname__}"
    options = {"serializer": ours}
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "OPTIONS": options}}
    assert nothing_is_unpickled(None) == []
