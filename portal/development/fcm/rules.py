"""The responses of the local push service: the checks of FCM's v1 API, and scripted failures."""

import json
import re
import time
from typing import Any

PAYLOAD_BYTES = 4096
LONGEST_TTL = 4 * 7 * 24 * 3600
# The longest time from the rendering of a push to its arrival here.
SENDING_SECONDS = 30
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
    if problem := _check_devices(message, notification, android):
        return problem
    label = (message.get("fcm_options") or {}).get("analytics_label", "x")
    if not _LABEL.fullmatch(label):
        return invalid("Invalid analytics label", "message.fcm_options.analytics_label")
    size = len(json.dumps([notification, data], ensure_ascii=False, separators=(",", ":")).encode())
    if size > PAYLOAD_BYTES:
        return invalid(f"Message is too big ({size} bytes)", "message")
    return None


# --- Errors that FCM accepts, but that keep a phone from showing the push or playing its sound -----------------


def _check_devices(message: dict[str, Any], notification: dict[str, Any], android: dict[str, Any]) -> Answer | None:
    """Refuses what APNs refuses, and fields that are missing or contradict each other. FCM itself accepts some of
    these."""
    apns = message.get("apns") or {}
    headers, aps = apns.get("headers") or {}, (apns.get("payload") or {}).get("aps") or {}
    if not all(isinstance(value, str) for value in headers.values()):
        return invalid("Invalid value at 'message.apns.headers' (TYPE_STRING)", "message.apns.headers")
    if len(headers.get("apns-collapse-id", "").encode()) > 64:
        return invalid("apns-collapse-id is longer than 64 bytes", "message.apns.headers")
    if "ttl" not in android:
        return invalid("ttl is missing", "message.android.ttl")
    for rules, field in (
        (_of_headers(headers, android), "message.apns.headers"),
        (_of_aps(headers, aps, notification), "message.apns.payload.aps"),
        (_of_android(android, aps, notification), "message.android"),
    ):
        for reason, is_broken in rules.items():
            if is_broken:
                return invalid(reason, field)
    return None


def _of_headers(headers: dict[str, str], android: dict[str, Any]) -> dict[str, bool]:
    push_type, priority, expiration = (headers.get(f"apns-{name}") for name in ("push-type", "priority", "expiration"))
    is_time = expiration is not None and expiration.isascii() and expiration.isdigit()
    lasts = int(expiration or 0) - time.time() - float(android["ttl"][:-1]) if is_time else 0.0
    return {
        "apns-push-type is alert or background": push_type not in ("alert", "background"),
        "apns-priority is 5 or 10": priority not in ("5", "10"),
        "a background push has apns-priority 5": push_type == "background" and priority != "5",
        "apns-expiration is a UNIX time": not is_time,
        "apns-expiration and android.ttl end at different times": abs(lasts) > SENDING_SECONDS,
    }


def _of_aps(headers: dict[str, str], aps: dict[str, Any], notification: dict[str, Any]) -> dict[str, bool]:
    badge, is_background = aps.get("badge"), "content-available" in aps
    is_shown = bool(notification) or "alert" in aps
    is_number = isinstance(badge, int) and not isinstance(badge, bool) and badge >= 0
    return {
        "content-available is 1": is_background and aps["content-available"] != 1,
        "a background push has content-available": is_background != (headers.get("apns-push-type") == "background"),
        "a background push has no alert": is_background and is_shown,
        "a background push has neither sound nor badge": is_background and bool({"sound", "badge"} & aps.keys()),
        "a push that is shown has a sound": is_shown and not aps.get("sound"),
        "a push that is not shown has no sound": not is_shown and "sound" in aps,
        "badge is a number from 0 on": not is_background and not is_number,
    }


def _of_android(android: dict[str, Any], aps: dict[str, Any], notification: dict[str, Any]) -> dict[str, bool]:
    on_screen = android.get("notification") or {}
    return {
        "notification without a title or body": bool(notification)
        and not (notification.get("title") and notification.get("body")),
        "collapse_key is missing": bool(notification) and not android.get("collapse_key"),
        "channel_id is missing": bool(notification) and not on_screen.get("channel_id"),
        "android.notification without a notification": bool(on_screen) and not notification,
        "notification_count and badge differ": bool(notification)
        and on_screen.get("notification_count", 0) != aps.get("badge"),
    }
