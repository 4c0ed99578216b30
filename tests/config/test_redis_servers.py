"""Redis behind one address, behind several, and behind Sentinel, with real servers."""

import asyncio
import shutil
import socket
import subprocess
import time
from functools import cache

import pytest
import redis
from channels_redis.pubsub import RedisPubSubChannelLayer
from channels_redis.utils import _consistent_hash
from django.core.exceptions import ImproperlyConfigured

from config import environment
from core.redis_servers import ConfiguredRedisCache, parse
from realtime import wakeups
from server import health

pytestmark = [pytest.mark.once, pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")]
PATIENCE_SECONDS = 60


def test_the_forms_of_the_address():
    assert [server.address for server in parse("redis://a:1/0,rediss://b:2/1")] == ["redis://a:1/0", "rediss://b:2/1"]
    (service,) = parse("redis+sentinel://ann:s%40fe@s1:1,s2/main/3")
    assert service.for_channel_layer(socket_timeout=2) == {
        "master_name": "main",
        "sentinels": [("s1", 1), ("s2", 26379)],
        "sentinel_kwargs": {"socket_timeout": 2},
        "db": 3,
        "username": "ann",
        "password": "s@fe",
        "socket_timeout": 2,
    }


@pytest.mark.parametrize(
    "value",
    [
        "http://a",
        "redis://a,b",
        "redis://a:port/0",
        "redis://a:99999/0",
        "redis://a:6379/first",
        "redis://a:6379/-1",
        "redis://[::1",
        "redis://a:6379/0?nonsense=1",
        "redis://a:6379/0?socket_timeout=soon",
        "redis+sentinel:///x",
        "redis+sentinel://s1:x/main",
        "redis+sentinel://s1",
    ],
)
def test_another_form_is_refused_without_repeating_it(monkeypatch, value):
    monkeypatch.setenv("REDIS_URL", value)
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.redis("REDIS_URL")
    assert value not in str(refused.value)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def eventually(condition, seconds=PATIENCE_SECONDS):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except (redis.RedisError, OSError):
            pass
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.1)


@pytest.fixture
def start_redis(tmp_path):
    processes = []

    def start(*arguments, sentinel_of=None):
        port = free_port()
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", *arguments]
        if sentinel_of is not None:
            config = tmp_path / f"sentinel-{port}.conf"
            config.write_text(
                f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor main 127.0.0.1 {sentinel_of} 1\n"
                "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
            )
            command = ["redis-server", str(config), "--sentinel"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        processes.append(process)
        eventually(lambda: redis.Redis(port=port).ping())
        return port, process

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def use_redis(settings, monkeypatch):
    """Wake-ups of this test go where `REDIS_URL` says."""

    def use(url):
        settings.REDIS_URL = url
        config = {"hosts": [server.for_channel_layer(socket_timeout=5) for server in parse(url)], "prefix": "test"}
        settings.CHANNEL_LAYERS = {
            "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": config}
        }
        monkeypatch.setattr(wakeups, "_redis_clients", cache(wakeups._redis_clients.__wrapped__))
        monkeypatch.setattr(wakeups, "_paused_until", {})
        return RedisPubSubChannelLayer(**config)

    return use


def announce(heads):
    """Wakes the sockets of these users (by id) because their logs have grown to these numbers."""
    wakeups.publish([{"type": "new_events", "user_id": user_id, "seq": seq} for user_id, seq in heads.items()])


def received(layer, user_ids, publish):
    """What sockets of these users hear after `publish()`, in the order of the ids."""

    async def listen():
        channels = []
        for user_id in user_ids:
            channels.append(await layer.new_channel())
            await layer.group_add(wakeups.group_of(user_id), channels[-1])
        await asyncio.to_thread(publish)
        return [await asyncio.wait_for(layer.receive(channel), PATIENCE_SECONDS) for channel in channels]

    return asyncio.run(listen())


def test_each_wake_up_goes_through_the_shard_where_it_is_awaited(start_redis, use_redis):
    ports = [start_redis()[0] for _ in range(3)]
    layer = use_redis(",".join(f"redis://127.0.0.1:{port}/0" for port in ports))
    user_ids = list(range(1, 13))
    frames = received(layer, user_ids, lambda: announce(dict.fromkeys(user_ids, 7)))
    assert [(frame["user_id"], frame["seq"]) for frame in frames] == [(user_id, 7) for user_id in user_ids]
    published = [redis.Redis(port=port).info("commandstats").get("cmdstat_publish", {}) for port in ports]
    assert all(stats.get("calls", 0) > 0 for stats in published)


def test_a_dead_shard_keeps_no_wake_up_from_the_others(start_redis, use_redis, monkeypatch):
    (dead, process), (live, _) = start_redis(), start_redis()
    use_redis(f"redis://127.0.0.1:{dead}/0,redis://127.0.0.1:{live}/0")
    process.kill()
    process.wait()
    here = []
    monkeypatch.setattr(wakeups, "deliver_here", here.extend)
    heads = dict.fromkeys(range(1, 13), 7)
    channels = [f"test__group__u.{user_id}" for user_id in heads]
    with redis.Redis(port=live).pubsub() as listener:
        listener.psubscribe("*")
        listener.get_message(timeout=PATIENCE_SECONDS)
        for _ in range(2):  # the second during the pause of the first shard
            announce(heads)
            for channel in channels:
                if _consistent_hash(channel, 2) == 1:
                    assert listener.get_message(timeout=PATIENCE_SECONDS)["channel"] == channel.encode()
            sent_here = [f"test__group__u.{message['user_id']}" for message in here]
            assert sent_here == [channel for channel in channels if _consistent_hash(channel, 2) == 0]
            here.clear()


def test_sentinel_names_the_next_primary(start_redis, use_redis):
    primary, process = start_redis()
    replica, _ = start_redis("--replicaof", "127.0.0.1", str(primary))
    sentinel, _ = start_redis(sentinel_of=primary)
    eventually(lambda: redis.Redis(port=sentinel).sentinel_slaves("main"))
    eventually(lambda: redis.Redis(port=replica).info("replication")["master_link_status"] == "up")
    layer = use_redis(f"redis+sentinel://127.0.0.1:{sentinel}/main/0")
    cache = ConfiguredRedisCache("", {"OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2}})
    cache.set("counter", 1)
    # Replication does not wait for anyone: a primary that dies at once takes the key with it.
    eventually(lambda: redis.Redis(port=replica).dbsize() == 1)
    assert received(layer, [7], lambda: announce({7: 1}))[0]["seq"] == 1

    process.kill()
    eventually(lambda: redis.Redis(port=replica).info("replication")["role"] == "master")
    eventually(lambda: cache.incr("counter") >= 2)
    again = use_redis(f"redis+sentinel://127.0.0.1:{sentinel}/main/0")
    assert received(again, [7], lambda: announce({7: 2}))[0]["seq"] == 2


def test_tls_with_a_private_ca(start_redis, use_redis, tmp_path):
    key, certificate = tmp_path / "redis.key", tmp_path / "redis.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    tls_port = free_port()
    files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate]
    port, _ = start_redis("--tls-port", str(tls_port), *files, "--tls-auth-clients", "no")
    redis.Redis(port=port).config_set("requirepass", "right")

    layer = use_redis(f"rediss://:right@127.0.0.1:{tls_port}/0?ssl_ca_certs={certificate}")
    assert received(layer, [7], lambda: announce({7: 1}))[0]["seq"] == 1
    assert health.channel_layer().state == health.OK
    cache = ConfiguredRedisCache("", {"OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2}})
    cache.set("counter", 1)
    assert cache.incr("counter") == 2

    use_redis(f"rediss://:right@127.0.0.1:{tls_port}/0")
    assert health.channel_layer().detail.endswith("Add ?ssl_ca_certs=FILE, a file with the CA, to REDIS_URL.")
    use_redis(f"rediss://:wrong@127.0.0.1:{tls_port}/0?ssl_ca_certs={certificate}")
    assert health.channel_layer().detail.endswith("Redis refuses the user name or the password. Correct REDIS_URL.")
