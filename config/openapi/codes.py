"""Which error codes an operation can return: those of its own, and those that its shape brings with it."""

from typing import Any

from accounts.permissions import IsVerified
from config.openapi import security, texts

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
    found = set(text.errors if text else ()) | {"not_acceptable", "rate_limited"}
    schemes = {scheme for choice in security.BY_OPERATION.get(name, operation.get("security", [])) for scheme in choice}
    if "bearer" in schemes:
        found |= set(SESSION)
    if "two_step" in schemes:
        found |= set(TWO_STEP)
    parameters = operation.get("parameters", [])
    if "requestBody" in operation:
        found |= set(BODY)
    if any(one["in"] == "query" for one in parameters):
        found.add("validation_error")
    if any(one["name"] == "X-Action-Token" for one in parameters):
        found |= set(ACTION)
    if any(isinstance(one, IsVerified) for one in view.get_permissions()):
        found.add("email_not_verified")
    return sorted(found)
