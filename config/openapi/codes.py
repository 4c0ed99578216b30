"""Error codes: those that an operation can return (its own and those of its authentication and body), and the example
body of each.
"""

from __future__ import annotations

from typing import Any

from django.utils import translation

from accounts.permissions import IsVerified
from config.openapi import security, texts
from config.site import errors

SESSION = ("token_invalid", "token_expired", "token_revoked", "account_blocked")
TWO_STEP = ("token_invalid", "token_expired", "token_revoked")
ACTION = ("email_not_verified", "action_token_required", "action_token_invalid")
BODY = ("validation_error", "parse_error", "file_too_large", "unsupported_media_type")
# These concern the request, not the operation, and are described once: the path or method does not
# exist, or the server has a problem.
ANYWHERE = ("method_not_allowed", "server_error", "service_unavailable")


def of_operation(operation: dict[str, Any], view: Any) -> list[str]:
    """The sorted codes of one operation as drf-spectacular has read it."""
    name = operation["operationId"]
    text = texts.operations().get(name)
    codes = set(text.errors if text else ()) | {"not_acceptable", "rate_limited"}
    schemes = {scheme for choice in security.BY_OPERATION.get(name, operation.get("security", [])) for scheme in choice}
    if "bearer" in schemes:
        codes |= set(SESSION)
    if "two_step" in schemes:
        codes |= set(TWO_STEP)
    parameters = operation.get("parameters", [])
    if "requestBody" in operation:
        codes |= set(BODY)
    if any(one["in"] == "query" for one in parameters):
        codes.add("validation_error")
    if any(one["name"] == "X-Action-Token" for one in parameters):
        codes |= set(ACTION)
    if any(isinstance(one, IsVerified) for one in view.get_permissions()):
        codes.add("email_not_verified")
    return sorted(codes)


FIELDS = {"validation_error": {"email": ["This field is required."]}}
WAITS = {"rate_limited": 12, "account_locked": 60, "service_unavailable": 2}
# The sentences of codes without an exception class of the apps.
MESSAGES = {
    "validation_error": "Some fields are invalid.",
    "parse_error": "The request could not be read.",
    "method_not_allowed": 'Method "PUT" not allowed.',
    "not_acceptable": "Could not satisfy the request Accept header.",
    "server_error": "Something went wrong on our side.",
    "service_unavailable": "The service is busy. Please try again in a moment.",
}


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
