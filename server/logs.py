"""Log formats: text for development, one JSON object a line in production; secrets are removed from both."""

import json
import logging
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from accounts.conf import code_lengths
from core import request_context

# Patterns of secrets that are removed from every text: messages, addresses, tracebacks. Each pattern begins at the
# start of a word and reads it once. Clients choose some of the texts, and a pattern that could begin at every letter
# would take time with the square of their length.
_SECRETS = r"""
      (?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*eyJ)
      [A-Za-z0-9_-]{11,}+\.[A-Za-z0-9_-]++\.[A-Za-z0-9_-]*+              # a session token
    | (?<![A-Za-z0-9])sk_[a-z0-9]{8}_[A-Za-z0-9_-]{20,}+              # a server key
    | (?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=_-]{16,}+                    # a key that signs events
    | (?<=[?&]s=)[0-9a-f]{40}                                         # the signature of a picture's path
    | (?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[A-Za-z0-9_-]{43}(?![\w-])  # an opaque token of 256 bits
    | \b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b           # a recovery code
    | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)                                  # the credentials of a database or mail server
    | (?P<name>
        (?i:(?<![\w-])(?=[\w-]*(?:password|passwd|secret|token|sessionid))[\w-]++\\?["']?\s*+[:=]\s*)
      | (?i:\bbearer\s+)
      | (?i:(?<![\w-])[\w-]*code\\?["']?\s*[:=]\s*(?=\\?["']?\d{LENGTHS}\b))      # digits only: a status code is not a secret
      )
      (?: \\?"(?:[^"\\]|\\[^"])*\\?" | '(?:[^'\\]|\\.)*' | [^\s,;&}\])"']+ )
"""
# The attributes of every record. `color_message` is uvicorn's copy of the message, in colours.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


@cache
def _secrets() -> re.Pattern[str]:
    # Not when this module is loaded: the settings load it, and the lengths are settings.
    lengths = code_lengths()
    return re.compile(_SECRETS.replace("LENGTHS", f"{lengths[0]},{lengths[-1]}"), re.VERBOSE)


def without_secrets(text: str) -> str:
    """The text without passwords, codes, tokens and signatures."""
    return _secrets().sub(lambda match: (match["name"] or "") + "[removed]", text)


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float) else without_secrets(str(value))


class BoundedFilter(logging.Filter):
    """Limits the lines a minute of each kind, for loggers whose lines clients can cause. Errors always pass.

    A kind is a logger and a message without its arguments. The next line that passes says how many were left out.
    """

    KINDS = 1000

    def __init__(self, loggers: Iterable[str], lines: int = 60, seconds: float = 60) -> None:
        super().__init__()
        self._loggers = frozenset(loggers)
        self._lines = lines
        self._seconds = seconds
        # Kind → the start of its minute, and the lines since then.
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name not in self._loggers or record.levelno >= logging.ERROR:
            return True
        kind, now = (record.name, str(record.msg)), time.monotonic()
        began, number = self._counts.get(kind, (now, 0))
        left_out = 0
        if now - began >= self._seconds:
            left_out, began, number = max(0, number - self._lines), now, 0
        if len(self._counts) >= self.KINDS and kind not in self._counts:
            self._counts.clear()
        self._counts[kind] = (began, number + 1)
        if number >= self._lines:
            return False
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it before)", None
        return True


class ContextFilter(logging.Filter):
    """Adds user, session and request id to a record, and removes secrets from its text."""

    def filter(self, record: logging.LogRecord) -> bool:
        context = request_context.current()
        if context is not None:
            record.request_id = context.request_id
            record.user_id = context.user_id
            record.session_id = context.session_id
        text = record.getMessage()
        if _secrets().search(text):
            record.msg, record.args = without_secrets(text), None
        return True


class TextFormatter(logging.Formatter):
    """Text lines. Secrets are removed from tracebacks, too, because those quote values."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class JsonFormatter(logging.Formatter):
    """One line of JSON with times in UTC; each key of `extra` becomes a key."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        line |= {
            key: _clean(value)
            for key, value in vars(record).items()
            if key not in _STANDARD and not key.startswith("_") and value not in (None, "")
        }
        if record.exc_info:
            line["exception"] = without_secrets(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = without_secrets(self.formatStack(record.stack_info))
        return json.dumps(line, default=str, ensure_ascii=False)
