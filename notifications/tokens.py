"""The keys of other services, and the verification of their signatures."""

import base64
import hmac
import re
from dataclasses import dataclass
from functools import lru_cache

from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from accounts.exceptions import TokenInvalid
from notifications.conf import conf
from notifications.kinds import EVENT_KINDS, KINDS

# With a shorter key nothing starts (notifications.E011).
MIN_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Source:
    """A service that may post events of some kinds."""

    name: str
    key: str
    kinds: frozenset[str]


def sources() -> tuple[Source, ...]:
    """The configured services. ImproperlyConfigured for a setting that cannot be parsed."""
    return _sources(conf.EVENT_SOURCES)


@lru_cache(maxsize=4)
def _sources(setting: str) -> tuple[Source, ...]:
    entries: list[str] = []
    for word in re.split(r"[\s,;]+", setting.strip()):
        # `name:key:post_like,comment` continues its types after a comma; another entry has a colon.
        if ":" in word or not entries:
            entries.append(word)
        elif word:
            entries[-1] += f"|{word}"
    return tuple(_source(entry) for entry in entries if entry)


def _source(entry: str) -> Source:
    name, _, rest = entry.partition(":")
    key, separator, types = rest.rpartition(":")
    if not separator:
        key, types = rest, "*"
    allowed = frozenset(filter(None, re.split(r"[|+]", types)))
    if not name or not key or not allowed <= {*KINDS, "*"}:
        raise ImproperlyConfigured(
            f"EVENT_SOURCES is name:key:type,type[;name:key:type…]; the entry {name!r} is not. "
            f"Types are {', '.join(sorted(EVENT_KINDS))}."
        )
    # Only messaging sends messages, whatever types the setting allows.
    kinds = EVENT_KINDS if allowed <= {"*"} else allowed & EVENT_KINDS
    return Source(name=name[:60], key=key, kinds=kinds)


def source_of(*, message_id: str, timestamp: str, signature: str, body: bytes) -> Source:
    """The source that signed this, as Standard Webhooks describes it. TokenInvalid for any failure.

    The signature is HMAC-SHA256 over id, timestamp (seconds, at most EVENT_TOLERANCE_SECONDS away) and
    body, keyed by the UTF-8 bytes of the key; there may be several, and a source may have several keys.
    """
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise TokenInvalid
    if abs(timezone.now().timestamp() - int(timestamp)) > conf.EVENT_TOLERANCE_SECONDS:
        raise TokenInvalid
    signed = f"{message_id}.{timestamp}.".encode("latin-1", "replace") + body
    signatures = [
        part.removeprefix("v1,").encode("latin-1", "replace") for part in signature.split() if part.startswith("v1,")
    ]
    for source in sources():
        expected = base64.b64encode(hmac.digest(source.key.encode(), signed, "sha256"))
        if any(hmac.compare_digest(expected, candidate) for candidate in signatures):
            return source
    raise TokenInvalid
