"""Values of the environment, read so that a mistake names its variable instead of meaning something else."""

import os
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def switch(name: str, *, default: bool) -> bool:
    """1 or 0. A typing error must not open or close anything."""
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() not in SWITCH:
        raise ImproperlyConfigured(f"{name} is 1 or 0, not {value!r}.")
    return SWITCH[value.strip().lower()]


def number(name: str, *, default: int, least: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} is a whole number from {least} on, not {value!r}.")
    return int(value)


def choice(name: str, options: Collection[str], *, default: str) -> str:
    value = os.environ.get(name, "").strip() or default
    if value not in options:
        raise ImproperlyConfigured(f"{name} is one of {', '.join(options)}, not {value!r}.")
    return value


def database(name: str, *, default: str) -> dict[str, Any]:
    """A database's settings. The value may hold a password, so no error repeats it."""
    form = f"{name} is postgres://user:password@host:port/name or sqlite:///path."
    value = os.environ.get(name, "").strip() or default
    if not value.startswith(("postgres://", "postgresql://", "sqlite:///")):
        raise ImproperlyConfigured(form)
    try:
        found: dict[str, Any] = environ.Env.db_url_config(value)
    except ValueError as error:
        raise ImproperlyConfigured(form) from error
    return found


def redis(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if value and not value.startswith(("redis://", "rediss://", "unix://")):
        raise ImproperlyConfigured(f"{name} is redis://host:port/number, rediss:// (TLS) or unix://path.")
    return value


def prefix(name: str) -> str:
    """The beginning of paths in a URL."""
    value = os.environ.get(name, "").strip()
    if value and not value.startswith("/"):
        raise ImproperlyConfigured(f"{name} is the beginning of a path, /like-this/, not {value!r}.")
    return value


def mail(name: str, *, default: str, timeout: float) -> dict[str, Any]:
    """The mail backend that stands behind the queue, with its options."""
    parts = urlsplit(os.environ.get(name, "").strip() or default)
    try:
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} has no such port: {error}.") from error
    if parts.scheme in ("smtp", "smtps", "smtp+tls"):
        return {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {
                "host": parts.hostname or "localhost",
                "port": port or {"smtp": 25, "smtps": 465, "smtp+tls": 587}[parts.scheme],
                "username": unquote(parts.username or ""),
                "password": unquote(parts.password or ""),
                "use_ssl": parts.scheme == "smtps",
                "use_tls": parts.scheme == "smtp+tls",
                "timeout": timeout,
            },
        }
    if parts.scheme == "file" and parts.path:
        return {
            "BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "OPTIONS": {"file_path": unquote(parts.path)},
        }
    if parts.scheme == "console":
        return {"BACKEND": "django.core.mail.backends.console.EmailBackend", "OPTIONS": {}}
    raise ImproperlyConfigured(f"{name} is smtp://host:port, smtp+tls://, smtps://, file:///folder or console://.")
