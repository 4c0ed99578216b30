"""The responses of the local push service: the checks of FCM's v1 API, and the failures of a script."""

import json
import re
from typing import Any

PAYLOAD_BYTES = 4096
LONGEST_TTL = 4 * 7 * 24 * 3600
_TTL = re.compile(r"\d+(\.\d{1,9})?s")
_LABEL = re.compile(r"[a-zA-Z0-9\-_.~%]{1,50}")
_RESERVED = {"from", "message_type", "notification"}
_FIELDS = {
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "token", "topic", "condition",
}  # fmt: skip

Answer = tuple[int, dict[str, str], bytes]


def error(
    status: int, name: str, message: str, *, code: str = "", violation: str = "", retry_after: int | None = None
) -> Answer:
    """An error in Google's form; `code` is FCM's own, `violation` the field it is about."""
    details: list[dict[str, Any]] = []
    if code:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code})
    if violation:
        details.append(
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": violation, "description": message}],
            }
        )
    body = {"error": {"code": status, "message": message, "status": name, "details": details}}
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return status, headers, json.dumps(body).encode()


def invalid(message: str, field: str) -> Answer:
    return error(400, "INVALID_ARGUMENT", message, code="INVALID_ARGUMENT", violation=field)


def scripted_answer(script: dict[str, Any]) -> Answer | None:
    """The answer that a script configures; None for one that only delays a success."""
    return _scripted(script.get("retry_after")).get(str(script["kind"]))


def _scripted(wait: int | None = None) -> dict[str, Answer]:
    html = {"Content-Type": "text/html"}
    return {
        "UNREGISTERED": error(404, "NOT_FOUND", "Requested entity was not found.", code="UNREGISTERED"),
        "INVALID_TOKEN": INVALID_TOKEN,
        "INVALID_TOKEN_FIELD": invalid("Invalid registration token", "message.token"),
        "INVALID_PAYLOAD": invalid("Invalid value", "message.data"),
        "SENDER_ID_MISMATCH": error(403, "PERMISSION_DENIED", "SenderId mismatch", code="SENDER_ID_MISMATCH"),
        "PERMISSION_DENIED": error(403, "PERMISSION_DENIED", "Permission denied on resource project."),
        "QUOTA_EXCEEDED": error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", code="QUOTA_EXCEEDED", retry_after=wait),
        "INTERNAL": error(500, "INTERNAL", "Internal error encountered.", code="INTERNAL", retry_after=wait),
        "UNAVAILABLE": error(503, "UNAVAILABLE", "The service is unavailable.", code="UNAVAILABLE", retry_after=wait),
        "UNAUTHENTICATED": error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
        "THIRD_PARTY_AUTH_ERROR": error(
            401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", code="THIRD_PARTY_AUTH_ERROR"
        ),
        "HTML_502": (502, html, b"<html><body><h1>502 Bad Gateway</h1></body></html>"),
        "BARE_404": (404, html, b"<html><title>Error 404 (Not Found)!!1</title></html>"),
        "GARBAGE": (200, {"Content-Type": "application/json"}, b"\x00\xff<not json"),
    }


INVALID_TOKEN = error(
    400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token", code="INVALID_ARGUMENT"
)
SCRIPTS = (*_scripted(), "SLOW", "HANG", "DROP", "OK")


def check_message(message: Any) -> Answer | None:
    """The error of the real service for a message; None when it would accept it."""
    if not isinstance(message, dict):
        return invalid("message must be an object", "message")
    if unknown := set(message) - _FIELDS:
        return invalid(f"Unknown name {sorted(unknown)[0]!r} at 'message': Cannot find field.", "message")
    if sum(name in message for name in ("token", "topic", "condition")) != 1:
        return invalid("Exactly one of token, topic or condition is required", "message")
    token = message.get("token")
    if token is not None and (not isinstance(token, str) or not token or not token.isprintable()):
        return INVALID_TOKEN
    data = message.get("data", {})
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        return invalid("Invalid value at 'message.data' (TYPE_STRING)", "message.data")
    for key in data:
        if key in _RESERVED or key.startswith(("google.", "gcm.")):
            return invalid(f"Invalid data payload key: {key}", "message.data")
    return _check_parts(message, data)


def _check_parts(message: dict[str, Any], data: dict[str, str]) -> Answer | None:
    notification = message.get("notification") or {}
    if not all(isinstance(notification.get(name, ""), str) for name in ("title", "body", "image")):
        return invalid("Invalid value at 'message.notification' (TYPE_STRING)", "message.notification")
    android = message.get("android") or {}
    ttl = android.get("ttl", "0s")
    if not isinstance(ttl, str) or not _TTL.fullmatch(ttl) or float(ttl[:-1]) > LONGEST_TTL:
        return invalid("Illegal duration format; duration must end with 's'", "message.android.ttl")
    if str(android.get("priority", "normal")).lower() not in ("normal", "high"):
        return invalid("Invalid value at 'message.android.priority'", "message.android.priority")
    number = (android.get("notification") or {}).get("notification_count", 0)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        return invalid("Invalid value (TYPE_INT32)", "message.android.notification.notification_count")
    headers = (message.get("apns") or {}).get("headers") or {}
    if not all(isinstance(value, str) for value in headers.values()):
        return invalid("Invalid value at 'message.apns.headers' (TYPE_STRING)", "message.apns.headers")
    if len(headers.get("apns-collapse-id", "").encode()) > 64:
        return invalid("apns-collapse-id is longer than 64 bytes", "message.apns.headers")
    label = (message.get("fcm_options") or {}).get("analytics_label", "x")
    if not _LABEL.fullmatch(label):
        return invalid("Invalid analytics label", "message.fcm_options.analytics_label")
    size = len(json.dumps([notification, data], ensure_ascii=False, separators=(",", ":")).encode())
    if size > PAYLOAD_BYTES:
        return invalid(f"Message is too big ({size} bytes)", "message")
    return None
