"""Each error code with its status and a body as a client receives it."""

from __future__ import annotations

from typing import Any

from django.utils import translation

from config.site import errors

FIELDS = {"validation_error": {"email": ["This field is required."]}}
WAITS = {"rate_limited": 12, "account_locked": 60, "service_unavailable": 2}
# The sentences of codes that no exception class of ours carries.
MESSAGES = {
    "validation_error": "Some fields are invalid.",
    "parse_error": "The request could not be read.",
    "method_not_allowed": 'Method "PUT" not allowed.',
    "not_acceptable": "Could not satisfy the request Accept header.",
    "server_error": "Something went wrong on our side.",
    "service_unavailable": "The service is busy. Please try again in a moment.",
}


def statuses() -> dict[str, int]:
    return errors.statuses()


def body(code: str) -> dict[str, Any]:
    """An error body with this code, in English."""
    example: dict[str, Any] = {"ok": False, "error": code, "message": _message(code)}
    if code in FIELDS:
        example["fields"] = FIELDS[code]
    if code in WAITS:
        example["retry_after"] = WAITS[code]
    return example | {"request_id": "5f1c2a9be07d4c31"}


def _message(code: str) -> str:
    with translation.override("en"):
        for kind in errors.error_classes():
            if kind.default_code == code:
                return str(kind.default_detail)
    return MESSAGES[code]
