"""The targets of events, from the setting INTEGRATIONS_WEBHOOKS (WEBHOOKS in the environment)."""

import base64
import binascii
import ipaddress
import re
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from integrations.conf import conf
from integrations.kinds import types_of

FORM = "WEBHOOKS is name|https://host/path|whsec_<base64>[,whsec_<base64>]|types[+text], one a line or split by spaces."
KEY_BYTES = range(24, 65)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    url: str = field(repr=False)
    # The newest first; each signs.
    keys: tuple[bytes, ...] = field(repr=False)
    types: frozenset[str]
    with_text: bool


def targets() -> tuple[Target, ...]:
    """The configured targets. ImproperlyConfigured for a malformed setting; no error repeats an address or a key."""
    return _parsed(conf.WEBHOOKS)


def target(name: str) -> Target | None:
    return next((one for one in targets() if one.name == name), None)


def wanted() -> frozenset[str]:
    """The types of events that some target wants."""
    return _wanted(conf.WEBHOOKS)


@lru_cache(maxsize=4)
def _wanted(setting: str) -> frozenset[str]:
    return frozenset[str]().union(*(one.types for one in _parsed(setting)))


@lru_cache(maxsize=4)
def _parsed(setting: str) -> tuple[Target, ...]:
    parsed = [_target(entry) for entry in setting.split()]
    names = [one.name for one in parsed]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ImproperlyConfigured(f"WEBHOOKS names {twice[0]!r} twice.")
    return tuple(parsed)


def _target(entry: str) -> Target:
    parts = entry.split("|")
    if len(parts) != 4 or not _NAME.fullmatch(parts[0]):
        raise ImproperlyConfigured(FORM)
    name, url, keys, types = parts
    with_text = types.endswith("+text")
    patterns = types.removesuffix("+text").split(",")
    try:
        chosen = types_of(patterns)
    except ValueError as error:
        raise ImproperlyConfigured(f"WEBHOOKS: the target {name!r} names an unknown type {str(error)!r}.") from error
    if not _is_allowed(url):
        raise ImproperlyConfigured(
            f"WEBHOOKS: the address of {name!r} is https://host/path; http is for this machine alone."
        )
    return Target(name, url, tuple(_key(name, key) for key in keys.split(",")), chosen, with_text)


def _key(name: str, text: str) -> bytes:
    try:
        key = base64.b64decode(text.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith("whsec_") or len(key) not in KEY_BYTES:
        raise ImproperlyConfigured(
            f"WEBHOOKS: a key of {name!r} is whsec_ and the base64 of {KEY_BYTES[0]} to {KEY_BYTES[-1]} random bytes."
        )
    return key


def _is_allowed(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not url.isascii() or not url.isprintable() or not host or port == 0 or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
