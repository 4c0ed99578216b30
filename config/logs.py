"""Log lines: text on a laptop, one JSON object a line in a fleet; never a token, in neither."""

import json
import logging
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from accounts import request_context

access = logging.getLogger("parley.access")

# A session token, whatever carries it, and the signature in a picture's path.
_SECRETS = re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(?<=[?&]s=)[0-9a-f]{40}")
# What every record holds; uvicorn adds the message once more, in colours.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def without_secrets(text: str) -> str:
    """The text with tokens and signatures taken out."""
    return _SECRETS.sub("[removed]", text)


class ContextFilter(logging.Filter):
    """Adds who and which request to a record, and takes tokens out of its text."""

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


class JsonFormatter(logging.Formatter):
    """One line of JSON in UTC; whatever a caller passed as `extra` is a key of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {
            key: value
            for key, value in vars(record).items()
            if key not in _STANDARD and not key.startswith("_") and value not in (None, "")
        }
        if record.exc_info:
            line["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, default=str, ensure_ascii=False)


class AccessLogMiddleware:
    """A line per request: what was asked of which route, by whom, with what result, in how many ms."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        # The route, not the path: a path may hold a picture's secret name.
        access.info(
            "%s %s %s",
            request.method,
            f"/{match.route}" if match else "/(none)",
            response.status_code,
            extra={
                "status": response.status_code,
                "ms": round((time.perf_counter() - started) * 1000, 1),
                "error": error_of(response),
            },
        )
        return response


def error_of(response: HttpResponse) -> str | None:
    """The code of an error envelope; None for anything else."""
    data = getattr(response, "data", None)
    return data.get("error") if isinstance(data, dict) else None
