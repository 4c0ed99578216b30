"""Nothing serves with settings that are not safe: every kind of process says why in its output and ends."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from core.conf import refuse_unsafe_settings
from server.management.commands import serve as startup
from tests.waiting import wait_for

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
        ({"SECRET_KEY": "a"}, "SECRET_KEY holds less than 32 bytes"),
        ({"TOKEN_KEYS": "k1:short"}, "TOKEN_KEYS is kid:secret"),
        ({"TOKEN_KEYS": f"k1:{KEY},{KEY}"}, "TOKEN_KEYS is kid:secret"),
        ({"TOKEN_KEYS": f"k1:{KEY},k1:{KEY}"}, "twice"),
        ({"EVENT_SOURCES": "blog:Zx9,kQ2vLw8rT5yU1pA7:post_like,comment"}, "EVENT_SOURCES holds less than 32 bytes"),
        ({"EVENT_SOURCES": "blog"}, "EVENT_SOURCES is name:key:type"),
        ({"PUSH_FCM_ENDPOINT": "https://fcm.example.com"}, "PUSH_FCM_ENDPOINT may only point to this machine"),
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
    assert "SECRET_KEY holds less than 32 bytes" in ended.stderr
    assert "TOKEN_KEYS is kid:secret" in ended.stderr


@pytest.mark.once
@pytest.mark.parametrize("process", ["wsgi", "asgi"])
def test_safe_settings_stop_nothing(tmp_path, process):
    safe = SAFE | {"EVENT_SOURCES": f"blog:{'e' * 32}:post_like"}
    for env in ({name: safe[name] for name in safe if name != "DEBUG"}, {"DEBUG": "1"}):
        ended = start(process, tmp_path, env)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.once
@pytest.mark.slow
def test_a_server_with_a_database_names_every_missing_setting(tmp_path):
    for process in ("serve", "deliver"):
        ended = start(process, tmp_path, {"DATABASE_URL": "postgres://parley@127.0.0.1:9/parley"})
        assert ended.returncode == 1
        assert "not set: SECRET_KEY, SITE_URL, TOKEN_KEYS" in ended.stderr
        assert "python3 dev.py run" in ended.stderr
        assert "DEBUG=1" in ended.stderr
        assert ended.stderr.count("\n") == 1
    ended = start("wsgi", tmp_path, safe_but("TOKEN_KEYS"))
    assert "TOKEN_KEYS must be set when DEBUG=0." in ended.stderr


@pytest.mark.once
@pytest.mark.slow
def test_an_empty_environment_serves_with_debug_off_and_keeps_its_keys(tmp_path):
    """Before and after the first `migrate`: delivery begins by itself when the tables are there."""
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path)}
    printed = "from django.conf import settings; print(settings.DEBUG, settings.SECRET_KEY)"
    keys = set()
    log = tmp_path / "log"
    with log.open("w") as output:
        server = subprocess.Popen(PROCESSES["serve"], cwd=ROOT, env=env, stdout=output, stderr=output)
    try:
        wait_for(
            lambda: "Run `manage.py migrate`" in log.read_text() and "yet: no such table" in log.read_text(), seconds=60
        )
        base = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())[0]
        wait_for(lambda: status_of(f"{base}/readyz") == 503, seconds=60)
        for command in (["shell", "-v", "0", "-c", printed], ["migrate"], ["shell", "-v", "0", "-c", printed]):
            done = subprocess.run(
                [sys.executable, "manage.py", *command], cwd=ROOT, env=env, capture_output=True, text=True, check=True
            )
            keys |= {done.stdout.strip()} if command[0] == "shell" else set()
        wait_for(lambda: status_of(f"{base}/readyz") == 200, seconds=60)
        assert status_of(f"{base}/dev/mail/") == 404
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
    (line,) = keys
    assert line.startswith("False ")
    assert len(line) > 40
    assert "Traceback" not in log.read_text()


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


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
