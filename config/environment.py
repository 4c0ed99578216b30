"""Reads environment variables strictly: an invalid value raises an error that names its variable."""

import contextlib
import os
import re
import secrets
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from core import origins, redis_servers
from core.images.storage_address import storage_at


# A value may begin with `$`: docs/decisions/serving.md#0065
class Environment(environ.Env):
    """django-environ, which takes a value that begins with a dollar sign for the name of another variable. Here it
    stays as it is, because a secret may begin with one."""

    def get_value(
        self, var: str, cast: Any = None, default: Any = environ.Env.NOTSET, parse_default: bool = False
    ) -> Any:
        value = self.ENVIRON.get(var, "")
        if value.startswith("$"):
            return self.parse_value(value, cast)
        return super().get_value(var, cast, default, parse_default)


env = Environment()

# A name, a dot and a name (for all names below it), an IPv6 address in brackets, or everything.
HOST = re.compile(r"\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9a-fA-F:.]+\]|\*", re.ASCII)
SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
SMTP_PORTS = {"smtp": 25, "smtps": 465, "smtp+tls": 587}


def text(name: str) -> str:
    """The value without spaces around it; empty when it is not set."""
    value: str = env.str(name, default="").strip()
    return value


def switch(name: str, *, default: bool) -> bool:
    """1 or 0. Anything else is an error, so that a typing error does not switch anything."""
    if name not in env:
        return default
    value = env.str(name)
    if value.strip().lower() not in SWITCH:
        raise ImproperlyConfigured(f"{name} is 1 or 0, not {value!r}.")
    return SWITCH[value.strip().lower()]


def missing(*names: str) -> list[str]:
    """The unset ones of these variables. ImproperlyConfigured if there is one and the environment says DEBUG=0.

    They are not needed on a single machine where neither DEBUG nor a database server is configured.
    """
    unset = [name for name in names if not text(name)]
    if unset and "DEBUG" in env:
        raise ImproperlyConfigured(f"{unset[0]} must be set when DEBUG=0.")
    return unset if text("DATABASE_URL") else []


def secret(name: str, *, kept_in: Path, prefix: str = "") -> str:
    """The secret from the environment, else a random one that is kept in a file of this folder."""
    if value := text(name):
        return value
    path = kept_path(name, kept_in)
    try:
        if not path.exists():
            _create_whole(path, prefix + secrets.token_urlsafe(48))
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} is not set, and {path} cannot be read or made: {error.strerror}. Set it, or give this user VAR_DIR."
        ) from error


def kept_path(name: str, kept_in: Path) -> Path:
    """The file of a secret that the environment does not set."""
    return kept_in / f"{name.lower()}.txt"


def _create_whole(path: Path, content: str) -> None:
    """Creates the file in one step, so that two processes that start at once read the same secret."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name) as file:
        file.write(content)
        file.flush()
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)


def number(name: str, *, default: int, least: int, most: int | None = None) -> int:
    value = text(name) or str(default)
    # Python may refuse to read very long numbers, and settings never need more than ten digits.
    if not value.isdecimal() or len(value) > 10 or int(value) < least or (most is not None and int(value) > most):
        limits = f"from {least} on" if most is None else f"from {least} to {most}"
        raise ImproperlyConfigured(f"{name} is a whole number {limits}, not {value!r}.")
    return int(value)


def choice(name: str, options: Collection[str], *, default: str) -> str:
    value = text(name) or default
    if value not in options:
        raise ImproperlyConfigured(f"{name} is one of {', '.join(options)}, not {value!r}.")
    return value


def database(name: str, *, default: str) -> dict[str, Any]:
    """A database's settings. The value may hold a password, so errors do not repeat it."""
    form = f"{name} is postgres://user:password@host:port/name (or host:port,host:port) or sqlite:///path."
    value = text(name) or default
    if not value.startswith(("postgres://", "postgresql://", "sqlite:///")):
        raise ImproperlyConfigured(form)
    try:
        config: dict[str, Any] = environ.Env.db_url_config(_with_ports(value))
    except ValueError as error:
        raise ImproperlyConfigured(form) from error
    if not config["NAME"] and "service" not in config.get("OPTIONS", {}):
        raise ImproperlyConfigured(form)
    return config


def _with_ports(value: str) -> str:
    """The address with a port for each host of a list, because libpq would take a single port for all of them."""
    scheme, separator, rest = value.partition("://")
    authority, slash, path = rest.partition("/")
    user_info, at, hosts = authority.rpartition("@")
    if "," in hosts and scheme != "sqlite":
        pairs = [host if ":" in host else f"{host}:5432" for host in hosts.split(",")]
        if not all(re.fullmatch(r".+:[0-9]+", pair) for pair in pairs):
            raise ValueError("a host of the list is host:port")
        hosts = ",".join(pairs)
    return f"{scheme}{separator}{user_info}{at}{hosts}{slash}{path}"


def redis(name: str) -> str:
    """The address of Redis as `core.redis_servers` reads it, or an empty string. Errors do not repeat a password."""
    value = text(name)
    try:
        redis_servers.parse(value)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} is redis://host:port/number, rediss:// (TLS) or unix://path, several of them separated by commas, "
            "or redis+sentinel://host:port,host:port/service/number."
        ) from error
    return value


def folder(name: str, *, default: Path) -> Path:
    """The folder of a variable. An empty value counts as not set, because as a path it would be the current folder."""
    return Path(text(name) or default)


def header(name: str, value: str | None = None) -> str:
    """A value that is sent as a header or compared with one. Headers have ASCII characters only, so any other value
    would never match. It may be a secret, so errors do not repeat it."""
    value = text(name) if value is None else value.strip()
    if not (value.isascii() and value.isprintable()):
        raise ImproperlyConfigured(f"{name} is part of a header: printable ASCII characters only.")
    return value


def origin(name: str, value: str) -> str:
    """The origin of a page that may use the API, as browsers write it."""
    if (written := origins.canonical(value.strip())) is None:
        raise ImproperlyConfigured(
            f"{name} is https://app.example.com,capacitor://localhost: scheme, host and port, no path, not {value!r}."
        )
    return written


def items(name: str) -> list[str]:
    """The values between the commas, without spaces around them."""
    return [value.strip() for value in text(name).split(",") if value.strip()]


def _parts(value: str, form: str) -> SplitResult:
    """The parts of an address. ImproperlyConfigured, which names the expected form, for an invalid host or port."""
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(form) from error
    return parts


def site(name: str, value: str) -> str:
    """The public address of the service, without a trailing slash."""
    form = f"{name} is https://chat.example.com: scheme and host, no path."
    parts = _parts(header(name, value), form)
    valid = parts.port != 0 and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    if not valid or parts.path not in ("", "/") or parts.query or parts.fragment or any(c.isspace() for c in value):
        raise ImproperlyConfigured(form)
    return f"{parts.scheme}://{parts.netloc}"


def hosts(name: str, *, default: list[str]) -> list[str]:
    """Host names as Django compares them. A name with a scheme, a port or a path would never match."""
    values = items(name) if name in env else default
    for value in values:
        if not HOST.fullmatch(value):
            raise ImproperlyConfigured(
                f"{name} is chat.example.com,.example.org: names without scheme, port and path, not {value!r}."
            )
    return values


def media(name: str, value: str | None = None) -> dict[str, Any]:
    """The storage of images: MEDIA_ROOT, or a bucket (`storage_at`)."""
    value = text(name) if value is None else value.strip()
    return storage_at(name, value) if value else {"BACKEND": "django.core.files.storage.FileSystemStorage"}


def prefix(name: str) -> str:
    value = header(name)
    if value and not value.startswith("/"):
        raise ImproperlyConfigured(f"{name} is the beginning of a path, /like-this/, not {value!r}.")
    return value


def mail(name: str, *, default: str, timeout: float) -> dict[str, Any]:
    """The mail backend that the outbox uses, with its options."""
    form = f"{name} is smtp://host:port, smtp+tls://, smtps://, file:///folder or console://."
    parts = _parts(text(name) or default, form)
    if parts.scheme in SMTP_PORTS:
        if not unquote(f"{parts.username or ''}{parts.password or ''}").isascii():
            raise ImproperlyConfigured(f"{name} has a user or password that SMTP cannot send: ASCII characters only.")
        if parts.query or parts.fragment or parts.path.strip("/"):
            # `?ssl=1` of other products would send the password unencrypted; a password with `#` or `/` would be cut off.
            raise ImproperlyConfigured(f"{form} Nothing follows the port; a password is percent-encoded.")
        return {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {
                "host": parts.hostname or "localhost",
                "port": parts.port or SMTP_PORTS[parts.scheme],
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
    raise ImproperlyConfigured(form)


def product_name(name: str, *, default: str) -> str:
    """The name of the product: one line of up to 40 visible characters that a header of a mail can hold."""
    value = " ".join(text(name).split()) or default
    if len(value) > 40 or not value.isprintable() or any(mark in value for mark in '<>"@\\{}%'):
        raise ImproperlyConfigured(f"{name} is a name of up to 40 characters, without quotes, brackets, @, %, and \\.")
    return value


def picture(name: str) -> Path | None:
    """The file of a logo, SVG or PNG."""
    value = text(name)
    if not value:
        return None
    path = Path(value)
    if path.suffix not in (".svg", ".png") or not path.is_file():
        raise ImproperlyConfigured(f"{name} is a file that ends in .svg or .png; {value} is not.")
    return path


def web_address(name: str) -> str:
    """An address of a web page, with or without a path; empty without one."""
    value = header(name)
    if not value:
        return ""
    parts = _parts(value, form := f"{name} is https://www.example.com/chat.")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or any(c in value for c in " '\"<>")
    ):
        raise ImproperlyConfigured(form)
    return value


def mailbox(name: str) -> str:
    """A plain address of mail; empty without one."""
    value = text(name)
    if value and not re.fullmatch(r"[^\s@<>\"',;]+@[^\s@<>\"',;]+\.[^\s@<>\"',;]+", value):
        raise ImproperlyConfigured(f"{name} is an e-mail address, not {value!r}.")
    return value
