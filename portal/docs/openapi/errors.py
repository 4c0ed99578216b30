"""The error codes: status, meaning, advice for the client, operations that return it, and an example body. The status
comes from the exception class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import translation

from accounts.conf import conf as accounts
from accounts.permissions import IsVerified
from core.api.errors import CODES
from core.api.exceptions import ApiError
from core.api.open_values import OpenValues
from core.images.pool import MAX_BYTES
from core.images.structure import MAX_SIDE, MAX_STILL_PIXELS
from integrations.conf import conf as integrations
from portal.docs.openapi import texts

WORDS: dict[str, tuple[str, str]] = {
    "validation_error": ("Some fields are missing, of the wrong type or out of range.", "Show each text of `fields` beside its field."),
    "parse_error": ("The body is not a JSON object in UTF-8, or is nested too deeply.", "Fix the request; repeating it does not help."),
    "invalid_otp": (f"The mailed code or the challenge is wrong, used, or older than {accounts.CODE_MINUTES} minutes.", "Let the user type it again or request a new code."),
    "invalid_image": ("The image is broken, or has too many pixels or frames.", "Show the message, which says what is wrong. " f"Sides up to {MAX_SIDE:,} pixels, {MAX_STILL_PIXELS // 1_000_000} megapixels in total."),
    "invalid_credentials": ("The e-mail address or the password is wrong.", "Show the message. It does not say which of the two was wrong."),
    "invalid_two_step": ("The second password or the recovery code is wrong.", "Show the hint and let the user try again."),
    "token_invalid": ("The token is missing, malformed, or of another kind.", "Send `Authorization: Bearer <token>`, or sign in again."),
    "token_expired": ("The token is older than seven days.", "Sign in again. Refresh earlier next time."),
    "token_revoked": ("The session has ended: sign-out, removal, a new password, or the token was already used up.", "Delete the token and show the sign-in page."),
    "account_blocked": ("Support staff has blocked the account.", "Show the message and how to contact support. Stop sending requests."),
    "email_not_verified": ("The address is not confirmed yet, and this request reaches other users or changes security settings.", "Show the code field. Offer to send the code again."),
    "not_message_owner": ("Only the author may edit or delete a message.", "Offer these actions only for the user's own messages."),
    "user_blocked": ("One of the two users has blocked the other.", "Keep the history readable and disable the input."),
    "message_permission_denied": ("The privacy settings of the other user do not allow it.", "Show the message and disable the input."),
    "action_token_required": ("This action needs a confirmation: the `X-Action-Token` header is missing.", "Call `auth_action_challenge` and `auth_action_verify` first."),
    "action_token_invalid": ("The action token is used, older than five minutes, or belongs to another action or session.", "Start again with `auth_action_challenge`."),
    "conversation_not_found": ("The conversation does not exist, or the user is not part of it.", "Reload the list of conversations."),
    "message_not_found": ("The message does not exist, was deleted or cleared, or belongs to another conversation.", "Remove it from the screen."),
    "user_not_found": ("The user does not exist or cannot be contacted.", "Reload the search results."),
    "not_found": ("The path or the resource does not exist, or the user may not see it.", "Check the path and the id."),
    "method_not_allowed": ("The path exists, but not with this method.", "Look up the operation in the reference."),
    "not_acceptable": ("The response is JSON, and the `Accept` header excludes it.", "Send `Accept: application/json`, or no `Accept` header."),
    "file_too_large": (f"The file is larger than {MAX_BYTES >> 20} MB, or the body larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE >> 10} KB.", "Make it smaller before you send it."),
    "unsupported_media_type": ("The type of the body or of the image is not accepted here.", "Send JSON or multipart as documented; images as JPEG, PNG, WebP or GIF. For an image the message names the format."),
    "email_taken": ("The address is already registered.", "Offer to sign in or to reset the password."),
    "events_expired": (f"Some of the events after `after` are older than {integrations.KEEP_EVENT_DAYS} days and no longer kept.", "Read the present state of what you keep, then continue without `after` or from `oldest_id`."),
    "external_id_taken": ("Another account has this external id.", "Find the account by its `external_id`; change one of the two."),
    "deletion_scheduled": ("The user has asked for the deletion of this account, and it would be cancelled by signing in.", "Let the user sign in to keep the account, or wait for its end."),
    "server_key_invalid": ("The server key is missing, unknown or revoked, or the request comes from a network outside of the key's.", "Check the key and `--networks`. A user's token opens no path of the server."),
    "scope_missing": ("The server key lacks the scope that `scope` names.", "Make a key with this scope."),
    "server_key_in_browser": ("A request with a server key has an `Origin` header, so it comes from a browser.", "Revoke the key and call the path from your server."),
    "username_taken": ("The username is taken.", "Ask for another one."),
    "idempotency_conflict": ("This `client_id` was already used for different content.", "Use a new `client_id` for each message."),
    "call_conflict": ("The current state of the call does not allow this.", "Read the state of the call and follow it."),
    "storage_quota_exceeded": ("The user has stored as many bytes as one day allows (500 MB by default, days in UTC).", "Show the message. Upload again after `retry_after` seconds."),
    "storage_full": ("The user stores as many bytes as is allowed in all (5 GB by default).", "Show the message. Deleted images give their bytes back."),
    "rate_limited": ("Too many requests of this kind.", "Wait `retry_after` seconds, then try again once."),
    "account_locked": ("Too many wrong passwords in a row.", "Show a countdown of `retry_after` seconds and offer a password reset."),
    "server_error": ("The server failed to process the request.", "Try again later. Report the `request_id`."),
    "service_unavailable": ("The service is too busy, or its database is not available.", "Try again after `Retry-After` seconds, with jitter."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    code: str
    status: int
    when: str
    remedy: str


def statuses() -> dict[str, int]:
    """Code → status, from the exception classes of the apps and of DRF."""
    return {
        "server_error": 500,  # the only code without an exception class
        **{code: kind.status_code for kind, code in CODES.items()},
        **{kind.default_code: kind.status_code for kind in ApiError.__subclasses__()},
    }


def rows() -> list[Row]:
    """The table of /docs/errors, by status and code. A code without a description has an empty one."""
    rows = [Row(code, status, *WORDS.get(code, ("", ""))) for code, status in statuses().items()]
    return sorted(rows, key=lambda row: (row.status, row.code))


def codes() -> OpenValues:
    """Every code with its meaning."""
    return OpenValues("ErrorCode", {code: WORDS.get(code, ("", ""))[0] for code in sorted(statuses())})


# --- Of an operation --------------------------------------------------------------------------------

TWO_STEP = {"token_invalid", "token_expired", "token_revoked"}
SESSION = TWO_STEP | {"account_blocked"}
SERVER_KEY = {"server_key_invalid", "server_key_in_browser", "scope_missing"}
ACTION = {"email_not_verified", "action_token_required", "action_token_invalid"}
BODY = {"validation_error", "parse_error", "file_too_large", "unsupported_media_type"}
# These concern the request, not the operation, so they are described once: the path or method does not exist, or the
# server has a problem.
ANYWHERE = ("method_not_allowed", "server_error", "service_unavailable")


def codes_of(operation: dict[str, Any], view: Any) -> list[str]:
    """The sorted codes of one operation, as read by drf-spectacular."""
    text = texts.operations().get(operation["operationId"])
    codes = set(text.errors if text else ()) | {"not_acceptable", "rate_limited"}
    schemes = {scheme for choice in operation.get("security", []) for scheme in choice}
    if "bearer" in schemes:
        codes |= SESSION
    if "two_step" in schemes:
        codes |= TWO_STEP
    if "server_key" in schemes:
        codes |= SERVER_KEY
    parameters = operation.get("parameters", [])
    if "requestBody" in operation:
        codes |= BODY
    if any(parameter["in"] == "query" for parameter in parameters):
        codes.add("validation_error")
    if any(parameter["name"] == "X-Action-Token" for parameter in parameters):
        codes |= ACTION
    if any(isinstance(permission, IsVerified) for permission in view.get_permissions()):
        codes.add("email_not_verified")
    return sorted(codes)


FIELDS = {"validation_error": {"email": ["This field is required."]}}
WAITS = {"storage_quota_exceeded": 32_400, "rate_limited": 12, "account_locked": 60, "service_unavailable": 2}
# The sentences of codes without an exception class of the apps.
MESSAGES = {
    "validation_error": "Some fields are invalid.",
    "parse_error": "The request could not be read.",
    "method_not_allowed": 'Method "PUT" not allowed.',
    "not_acceptable": "Could not satisfy the request Accept header.",
    "server_error": "Something went wrong on our side.",
}


def example(code: str) -> dict[str, Any]:
    """An error body with this code, in English."""
    body: dict[str, Any] = {"ok": False, "error": code, "message": _message(code)}
    if code in FIELDS:
        body["fields"] = FIELDS[code]
    if code in WAITS:
        body["retry_after"] = WAITS[code]
    return body | {"request_id": "5f1c2a9be07d4c31"}


def _message(code: str) -> str:
    with translation.override("en"):
        of_apps = {kind.default_code: str(kind.default_detail) for kind in ApiError.__subclasses__()}
    return (MESSAGES | of_apps)[code]
