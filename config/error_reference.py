"""Every error code: its status from the class that raises it, and in words when it comes and what helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from django.apps import apps
from rest_framework.exceptions import APIException

from config.errors import CODES

# Codes that no class of ours carries: Django and DRF find these out before a view runs.
BEFORE_A_VIEW = {"validation_error": 400, "parse_error": 400, "server_error": 500, "service_unavailable": 503}

WORDS: dict[str, tuple[str, str]] = {
    "validation_error": ("Some fields are missing, of the wrong type or out of range.", "Show each text of `fields` beside its field."),
    "parse_error": ("The body is no JSON object in UTF-8, or is nested too deeply.", "Mend the request; repeating it does not help."),
    "invalid_otp": ("The mailed code or the challenge is wrong, used, or older than 10 minutes.", "Let the person type it again or ask for a new code."),
    "invalid_image": ("The picture is broken, or has too many pixels or frames.", "Offer another picture; sides up to 12,000, 24 megapixels."),
    "invalid_credentials": ("The e-mail address or the password is wrong.", "Say just that; do not guess which one it was."),
    "invalid_two_step": ("The second password or the recovery code is wrong.", "Show the hint and let the person try again."),
    "token_invalid": ("There is no token, it is garbled, or it is of another kind.", "Send `Authorization: Bearer <token>`; otherwise sign in again."),
    "token_expired": ("The token is older than seven days.", "Sign in again; refresh earlier next time."),
    "token_revoked": ("The session ended: logout, removal, a new password, or the token was spent.", "Forget the token and show the sign-in."),
    "account_blocked": ("Staff has blocked the account.", "Show the message and the way to support; stop sending requests."),
    "email_not_verified": ("The address is not confirmed yet, and this reaches other people or security settings.", "Lead to the code field; offer to send the code again."),
    "not_message_owner": ("Only the author may edit or delete a message.", "Offer these only on the person's own messages."),
    "user_blocked": ("One of the two has blocked the other.", "Keep the history readable and switch the input off."),
    "message_permission_denied": ("The other person's privacy settings do not allow it.", "Show the message and switch the input off."),
    "action_token_required": ("This needs a confirmation: the header `X-Action-Token` is missing.", "Run action-challenge and action-verify first."),
    "action_token_invalid": ("The action token is used, older than five minutes, or for another action or session.", "Start again with action-challenge."),
    "conversation_not_found": ("There is no such conversation for this person.", "Reload the list of conversations."),
    "message_not_found": ("There is no such message for this person: deleted, cleared, or never theirs.", "Take it off the screen."),
    "user_not_found": ("There is no such person to reach.", "Reload the search."),
    "not_found": ("There is nothing at this path, or nothing that this person may see.", "Check path and id."),
    "method_not_allowed": ("The path exists, but not with this method.", "Look the operation up in the API page."),
    "not_acceptable": ("The reply is JSON, and `Accept` excludes it.", "Send `Accept: application/json` or none."),
    "file_too_large": ("The file is over 5 MB, or the body over 256 KB.", "Make it smaller before sending."),
    "unsupported_media_type": ("The body or the picture is of a kind that is not accepted here.", "JSON or multipart as documented; JPEG, PNG, WebP or GIF."),
    "email_taken": ("The address is already registered.", "Offer to sign in or to reset the password."),
    "username_taken": ("Somebody else has this username.", "Ask for another one."),
    "idempotency_conflict": ("This `client_id` was already used for something else.", "Use a fresh `client_id` for each new message."),
    "call_conflict": ("The call is in a state that does not allow this.", "Read the call's state and follow it."),
    "rate_limited": ("Too many requests of this kind.", "Wait `retry_after` seconds, then try once more."),
    "account_locked": ("Too many wrong passwords in a row.", "Show a countdown of `retry_after` seconds; offer the reset."),
    "server_error": ("Something broke on the server.", "Try again later; report the `request_id`."),
    "service_unavailable": ("The service is too busy or its database is away.", "Try again after `Retry-After` seconds, with jitter."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    code: str
    status: int
    when: str
    remedy: str


def statuses() -> dict[str, int]:
    """Code → status, from the exception classes of the apps and of DRF."""
    found = dict(BEFORE_A_VIEW)
    for kind, code in CODES.items():
        found.setdefault(code, kind.status_code)
    found |= {kind.default_code: kind.status_code for kind in error_classes()}
    return found


def error_classes() -> Iterator[type[APIException]]:
    """The exception classes that our apps define, each once."""
    for config in apps.get_app_configs():
        if "/site-packages/" in config.path or config.name == "config":
            continue
        try:
            module = import_module(f"{config.name}.exceptions")
        except ModuleNotFoundError:
            continue
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, APIException) and value.__module__ == module.__name__:
                if "default_code" in vars(value):
                    yield value


def rows() -> list[Row]:
    """The table of /docs/errors, by status and code. A code without words stands there with empty ones."""
    found = [Row(code, status, *WORDS.get(code, ("", ""))) for code, status in statuses().items()]
    return sorted(found, key=lambda row: (row.status, row.code))
