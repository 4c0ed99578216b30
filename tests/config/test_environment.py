"""A wrong value in the environment stops the start in one line that names its variable."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "read", "wrong"),
    [
        ("DEBUG", lambda: environment.switch("DEBUG", default=True), ["", "maybe", "ture", "2"]),
        ("CALLS", lambda: environment.number("CALLS", default=60, least=1), ["x", "0", "-5", "1.5", "1e3"]),
        ("RING", lambda: environment.number("RING", default=60, least=1, most=3600), ["3601", "9" * 30]),
        ("LEVEL", lambda: environment.choice("LEVEL", ("INFO", "DEBUG"), default="INFO"), ["loud", "debug"]),
        (
            "DATABASE_URL",
            lambda: environment.database("DATABASE_URL", default="sqlite:///x"),
            [
                "nonsense",
                "mysql://u:secret@h/x",
                "postgres://u:secret@h:port/x",
                "postgres://u:secret@h",
                "postgres:///",
            ],
        ),
        ("REDIS_URL", lambda: environment.redis("REDIS_URL"), ["nonsense", "http://h:6379"]),
        (
            "HOSTS",
            lambda: environment.hosts("HOSTS", default=[]),
            [
                "https://chat.example.com",
                "chat.example.com:443",
                "a.example,b.example/",
                "a b",
                "[::1]:80",
                "*.example.com",
            ],
        ),
        ("SENDFILE", lambda: environment.prefix("SENDFILE"), ["pictures", "http://h/", "/bücher/"]),
        ("METRICS_TOKEN", lambda: environment.header("METRICS_TOKEN"), ["secret-für-alle", "secret\ttab", "секрет"]),
        (
            "SITE",
            lambda: environment.site("SITE", os.environ["SITE"]),
            ["h", "https://h:0", "https://h:x", "https://[h", "https://bücher.example"],
        ),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch, name, read, wrong):
    for value in wrong:
        monkeypatch.setenv(name, value)
        with pytest.raises(ImproperlyConfigured, match=f"^{name} is ") as raised:
            read()
        assert "secret" not in str(raised.value)


def test_switches_are_said_in_a_few_ways(monkeypatch):
    for value, meaning in [("1", True), ("True", True), ("on", True), ("0", False), ("false", False), ("No", False)]:
        monkeypatch.setenv("DEBUG", value)
        assert environment.switch("DEBUG", default=not meaning) is meaning


def test_host_names_are_taken_as_django_takes_them(monkeypatch):
    monkeypatch.setenv("HOSTS", "chat.example.com, .example.org,*,[::1],127.0.0.1")
    assert environment.hosts("HOSTS", default=[]) == ["chat.example.com", ".example.org", "*", "[::1]", "127.0.0.1"]
    monkeypatch.setenv("HOSTS", "")
    assert environment.hosts("HOSTS", default=["localhost"]) == []


def test_an_empty_value_is_none(monkeypatch):
    for name in ("CALLS", "LEVEL", "DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, "")
    assert environment.number("CALLS", default=60, least=1) == 60
    assert environment.choice("LEVEL", ("INFO",), default="INFO") == "INFO"
    assert environment.database("DATABASE_URL", default="sqlite:///x")["NAME"] == "x"
    assert environment.redis("REDIS_URL") == ""


def test_an_empty_folder_is_not_the_current_one(monkeypatch, tmp_path):
    monkeypatch.setenv("FOLDER", " ")
    assert environment.folder("FOLDER", default=tmp_path) == tmp_path


def test_spaces_after_commas_are_no_part_of_a_value(tmp_path):
    """An origin with a space in front would match no request, and one with a slash at its end neither."""
    origins = "https://chat.example.com/, https://*.example.org ,"
    script = "from config import settings; print(settings.CSRF_TRUSTED_ORIGINS, settings.CORS_ALLOWED_ORIGINS)"
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), "CSRF_TRUSTED_ORIGINS": origins}
    env |= {"CORS_ALLOWED_ORIGINS": "https://a.example , https://b.example"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split("] ") == [
        "['https://chat.example.com', 'https://*.example.org'",
        "['https://a.example', 'https://b.example']\n",
    ]


def test_a_secret_may_begin_with_a_dollar_sign(monkeypatch, tmp_path):
    monkeypatch.setenv("OTHER", "of another variable")
    for value in ("$OTHER", "$nothing"):
        monkeypatch.setenv("SECRET", value)
        assert environment.env.str("SECRET", default="") == value
        assert environment.secret("SECRET", kept_in=tmp_path) == value


def test_a_secret_that_cannot_be_kept_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET", raising=False)
    (tmp_path / "secret.txt").mkdir()
    for folder, reason in [(tmp_path, "Is a directory"), (tmp_path / "missing", "No such file or directory")]:
        with pytest.raises(
            ImproperlyConfigured, match=rf"^SECRET is not set, and .*secret\.txt .*: {reason}\. Set it, "
        ):
            environment.secret("SECRET", kept_in=folder)


@pytest.mark.parametrize("url", ["http://h", "s3://", "s3://[::1", "s3://bucket:port"])
def test_pictures_go_to_a_bucket(monkeypatch, url):
    monkeypatch.setenv("MEDIA_URL", url)
    with pytest.raises(ImproperlyConfigured, match=r"^MEDIA_URL is s3://bucket"):
        environment.media("MEDIA_URL")


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "smtp://h:port",
        "smtp://[::1",
        "file://",
        "http://h",
        "smtp://ann:pässword@h",
        "smtps://ann:%C3%A4@h",
    ],
)
def test_mail_goes_somewhere(monkeypatch, url):
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(ImproperlyConfigured, match=r"^EMAIL_URL "):
        environment.mail("EMAIL_URL", default="console://", timeout=10)


@pytest.mark.once
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"RATELIMIT_ENABLE": "ture"}, "RATELIMIT_ENABLE is 1 or 0, not 'ture'."),
        ({"VAR_DIR": "/dev/null"}, "VAR_DIR=/dev/null cannot be a folder: File exists."),
        ({"SENTRY_DSN": "nonsense"}, "SENTRY_DSN "),
        ({"METRICS_TOKEN": "schlüssel"}, "METRICS_TOKEN is part of a header: "),
        ({"CORS_ALLOWED_ORIGINS": "https://a.example/app"}, "CORS_ALLOWED_ORIGINS is https://app.example.com,"),
        ({"PUSH_BACKEND": "pigeon"}, "PUSH_BACKEND is one of fcm, console, outbox, off, not 'pigeon'."),
        ({"DEBUG": "0"}, "SECRET_KEY must be set when DEBUG=0."),
    ],
)
def test_commands_say_it_in_one_line(tmp_path, changes, words):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path)} | changes
    command = [sys.executable, "manage.py", "serve"]
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1


def test_several_hosts_of_a_database(monkeypatch):
    url = "postgres://ann:secret@db1:5433,db2/parley?target_session_attrs=read-write"
    monkeypatch.setenv("DATABASE_URL", url)
    config = environment.database("DATABASE_URL", default="")
    assert {name: config[name] for name in ("HOST", "PORT", "NAME", "USER", "PASSWORD", "OPTIONS")} == {
        "HOST": "db1,db2",
        "PORT": "5433,5432",
        "NAME": "parley",
        "USER": "ann",
        "PASSWORD": "secret",
        "OPTIONS": {"target_session_attrs": "read-write"},
    }


@pytest.mark.parametrize("hosts", ["db1,", "db1,:5432", "db1:x,db2"])
def test_a_wrong_list_of_hosts_is_refused(monkeypatch, hosts):
    monkeypatch.setenv("DATABASE_URL", f"postgres://ann:secret@{hosts}/parley")
    with pytest.raises(ImproperlyConfigured, match="host:port,host:port"):
        environment.database("DATABASE_URL", default="")


@pytest.mark.parametrize("value", ["9" * 5000, "-1", "1e3", "1001"])
def test_a_number_out_of_range_is_refused_however_long(monkeypatch, value):
    monkeypatch.setenv("DATABASE_POOL_SIZE", value)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_POOL_SIZE is a whole number from 1 to 1000"):
        environment.number("DATABASE_POOL_SIZE", default=16, least=1, most=1000)


@pytest.mark.parametrize("rest", [":465?ssl=True", ":25/mail", ":25#1"])
def test_what_follows_the_port_of_a_mail_server_is_refused(monkeypatch, rest):
    monkeypatch.setenv("EMAIL_URL", f"smtp://ann:secret@mail.example.com{rest}")
    with pytest.raises(ImproperlyConfigured, match="Nothing follows the port") as refused:
        environment.mail("EMAIL_URL", default="", timeout=1)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["STORAGE_QUOTA_DAY_MB", "STORAGE_QUOTA_TOTAL_MB"])
@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_quota_of_nothing_is_refused_at_the_start(tmp_path, name, value):
    env = {**os.environ, "DEBUG": "1", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=env | {name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"{name} is a whole number" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_call_that_would_ring_for_days_is_refused_at_the_start(tmp_path):
    for name in ("CALL_RING_SECONDS", "CALL_CONNECT_SECONDS", "CALL_LOST_SECONDS"):
        env = {**os.environ, "DEBUG": "1", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
        env |= {name: "86400"}
        done = subprocess.run(
            [sys.executable, "manage.py", "check"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert f"{name} is a whole number from 1 to 3600, not '86400'." in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("url", "folder"), [("", "var #1/mail"), ("file://{}/letters%20out", "letters out")])
def test_the_mailbox_reads_where_mails_are_written(tmp_path, url, folder):
    """Also in a folder that is named from the current one, with letters that addresses write in another way."""
    var = os.path.relpath(tmp_path / "var #1", ROOT)
    env = {**os.environ, "DEBUG": "1", "VAR_DIR": var, "EMAIL_URL": url.format(tmp_path)}
    names = "settings.MAILBOX_DIR, settings.NOTIFICATIONS_MAIL_TRANSPORT['OPTIONS']['file_path']"
    command = [sys.executable, "-c", f"from config import settings; print({names}, sep='\\n')"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert {os.path.realpath(line) for line in done.stdout.splitlines()} == {str((tmp_path / folder).resolve())}
