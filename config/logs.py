"""Log formats: text for development, one JSON object a line in production; secrets are removed from both."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from core import request_context

# Patterns of secrets, removed from every text: messages, addresses, tracebacks. Each begins where a word does and reads
# it once: clients choose some of the texts, and a pattern that begins at every letter takes the square of their length.
_SECRETS = re.compile(
    r"""
      (?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*eyJ)
      [A-Za-z0-9_-]{11,}+\.[A-Za-z0-9_-]++\.[A-Za-z0-9_-]*+              # a session token
    | (?<=[?&]s=)[0-9a-f]{40}                                         # the signature of a picture's path
    | (?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[A-Za-z0-9_-]{43}(?![\w-])  # an opaque token of 256 bits
    | \b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b           # a recovery code
    | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)                                  # the credentials of a database or mail server
    | (?P<name>
        (?i:(?<![\w-])(?=[\w-]*(?:password|passwd|secret|token|sessionid))[\w-]++\\?["']?\s*+[:=]\s*)
      | (?i:\bbearer\s+)
      | (?i:(?<![\w-])[\w-]*code\\?["']?\s*[:=]\s*(?=\\?["']?\d{6,10}\b))      # digits only: a status code is no secret
      )
      (?: \\?"(?:[^"\\]|\\[^"])*\\?" | '(?:[^'\\]|\\.)*' | [^\s,;&}\])"']+ )
    """,
    re.VERBOSE,
)
# The attributes of every record; uvicorn adds the message again, in colours.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def without_secrets(text: str) -> str:
    """The text without passwords, codes, tokens and signatures."""
    return _SECRETS.sub(lambda match: (match["name"] or "") + "[removed]", text)


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float) else without_secrets(str(value))


class ContextFilter(logging.Filter):
    """Adds user, session and request id to a record, and removes secrets from its text."""

    def filter(self, record: logging.LogRecord) -> bool:
        context = request_context.current()
        if context is not None:
            record.request_id = context.request_id
            record.user_id = context.user_id
            record.session_id = context.session_id
        text = record.getMessage()
        if _SECRETS.search(text):
            record.msg, record.args = without_secrets(text), None
        return True


class TextFormatter(logging.Formatter):
    """Text lines; secrets are removed from tracebacks, too, because these quote values."""

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
