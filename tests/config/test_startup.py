"""Nothing serves with settings that are not safe: every kind of process says why in its output and ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment, startup
from core.startup import refuse_unsafe_settings

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 40
SAFE = {
    "DEBUG": "0",
    "SECRET_KEY": "s" * 40,
    "TOKEN_KEYS": f"k1:{KEY}",
    "SITE_URL": "https://chat.example.com",
    "ALLOWED_HOSTS": "127.0.0.1",
}


def safe_but(*names):
    return {name: value for name, value in SAFE.items() if name not in names}


PROCESSES = {
    "serve": [sys.executable, "manage.py", "serve", "--port", "0"],
    "deliver": [sys.executable, "manage.py", "deliver"],
    "wsgi": [sys.executable, "-c", "import config.wsgi"],
    "asgi": [sys.executable, "-c", "import config.asgi"],
}


def start(process, folder, environment):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        PROCESSES[process], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.once
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"SECRET_KEY": "a"}, "SECRET_KEY has less than 32 bytes"),
        ({"TOKEN_KEYS": "k1:short"}, "TOKEN_KEYS is kid:secret"),
        ({"TOKEN_KEYS": f"k1:{KEY},{KEY}"}, "TOKEN_KEYS is kid:secret"),
        ({"TOKEN_KEYS": f"k1:{KEY},k1:{KEY}"}, "twice"),
        ({"EVENT_SOURCES": "blog:Zx9,kQ2vLw8rT5yU1pA7:post_like,comment"}, "EVENT_SOURCES holds a key of less than 32"),
        ({"EVENT_SOURCES": "blog"}, "EVENT_SOURCES is name:key:type"),
        ({"SITE_URL": ""}, "SITE_URL must be set when DEBUG=0."),
        ({"SITE_URL": "chat.example.com"}, "SITE_URL is https://chat.example.com"),
        ({"DEBUG": "1", "TOKEN_KEYS": "k1:short"}, "TOKEN_KEYS is kid:secret"),
    ],
)
def test_unsafe_settings_stop_the_start(tmp_path, changes, words):
    env = {name: value for name, value in (SAFE | changes).items() if value is not None}
    ended = start("wsgi", tmp_path, env)
    assert ended.returncode != 0
    assert words in ended.stderr, ended.stderr
    assert KEY not in ended.stderr


@pytest.mark.once
@pytest.mark.parametrize("process", PROCESSES)
def test_of_every_kind_of_process(tmp_path, process):
    ended = start(process, tmp_path, SAFE | {"SECRET_KEY": "a", "TOKEN_KEYS": "k1:short"})
    assert ended.returncode != 0
    assert "SECRET_KEY has less than 32 bytes" in ended.stderr
    assert "TOKEN_KEYS is kid:secret" in ended.stderr


@pytest.mark.once
@pytest.mark.parametrize("process", ["wsgi", "asgi"])
def test_safe_settings_stop_nothing(tmp_path, process):
    safe = SAFE | {"EVENT_SOURCES": f"blog:{'e' * 32}:post_like"}
    for env in ({name: safe[name] for name in safe if name != "DEBUG"}, {"DEBUG": "1"}):
        ended = start(process, tmp_path, env)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.once
def test_a_laptop_without_debug_migrates_and_is_told_how_to_serve(tmp_path):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path)}
    told = "from django.conf import settings; print(settings.DEBUG)"
    for command, words in ((["shell", "-v", "0", "-c", told], "False"), (["migrate", "--plan"], "accounts")):
        done = subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert words in done.stdout
    for process in ("serve", "deliver"):
        told = start(process, tmp_path, {})
        assert told.returncode == 1
        assert "not set: SECRET_KEY, SITE_URL, TOKEN_KEYS" in told.stderr
        assert "python3 dev.py run" in told.stderr
        assert "DEBUG=1" in told.stderr
        assert told.stderr.count("\n") == 1
    assert "not set: TOKEN_KEYS" in start("wsgi", tmp_path, safe_but("DEBUG", "TOKEN_KEYS")).stderr


def test_this_suite_would_start():
    refuse_unsafe_settings()


@pytest.mark.parametrize(
    ("value", "site"),
    [
        ("https://chat.example.com", "https://chat.example.com"),
        ("https://chat.example.com/", "https://chat.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_address_of_the_service(value, site):
    assert environment.site("SITE_URL", value) == site


@pytest.mark.parametrize(
    "value",
    [
        "chat.example.com", "//chat.example.com", "ftp://chat.example.com", "https://", "https://me@chat.example.com",
        "https://chat.example.com/app", "https://chat.example.com?x=1", "https://chat.example.com#x", "https://h:port",
        "https://chat.example.com\nhttps://evil.example", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_what_is_no_address(value):
    with pytest.raises(ImproperlyConfigured, match=r"^SITE_URL is "):
        environment.site("SITE_URL", value)


def test_a_server_of_this_machine_says_where_it_serves():
    assert startup.served_at("0.0.0.0", 8123) == "http://127.0.0.1:8123"
    assert startup.served_at("::1", 8123) == "http://[::1]:8123"
