"""The content of a mail as the queue keeps it: encrypted, so that only the process that sends it can read it.

A mail that waits may hold a code. A copy of the database, a report or a page that shows the row shows no code.
"""

import base64
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_KEY = "sealed"


class Unreadable(Exception):
    """The content was encrypted with a key that is no longer among SECRET_KEY and SECRET_KEY_FALLBACKS."""


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    return {_KEY: _keys().encrypt(json.dumps(content, ensure_ascii=False).encode()).decode()}


def opened(payload: dict[str, Any]) -> dict[str, Any]:
    """The content of a mail. Unreadable without its key."""
    from cryptography.fernet import InvalidToken

    try:
        content: dict[str, Any] = json.loads(_keys().decrypt(payload[_KEY]))
    except (InvalidToken, KeyError) as error:
        raise Unreadable from error
    return content


def _keys() -> "MultiFernet":
    return _ring((str(settings.SECRET_KEY), *map(str, settings.SECRET_KEY_FALLBACKS)))


@lru_cache(maxsize=4)
def _ring(secrets: tuple[str, ...]) -> "MultiFernet":
    # 8 MB, loaded with the first mail.
    from cryptography.fernet import Fernet, MultiFernet

    salt = "parley.notifications.mail"
    digests = (salted_hmac(salt, "key", secret=secret, algorithm="sha256").digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
