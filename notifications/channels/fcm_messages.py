"""Pushes in the form of FCM's v1 API, in which all values of `data` are strings.

The outbox of a development server writes the same messages, without importing the library.
"""

import time
from typing import Any

from notifications.channels.messages import PushMessage, Style

# The limit of APNs.
_COLLAPSE_BYTES = 64


def fcm_messages(message: PushMessage) -> list[dict[str, Any]]:
    """The FCM messages for a push, in order. They are rendered when they are sent, because APNs wants the time of
    expiry."""
    if message.style is Style.SHOWN:
        return [_shown(message)]
    # Only a visible push can change the number on the icon: iOS delivers few background pushes and ignores their
    # number.
    badge = [_badge_alone(message)] if message.style is Style.READ and message.is_ios else []
    return [*badge, _background(message)]


def _shown(message: PushMessage) -> dict[str, Any]:
    on_screen: dict[str, Any] = {"tag": message.tag, "channel_id": message.collapse_key}
    if message.badge:
        on_screen["notification_count"] = message.badge
    aps = {"sound": "default", "badge": message.badge, "thread-id": message.collapse_key}
    headers = {"apns-collapse-id": message.tag.encode()[:_COLLAPSE_BYTES].decode(errors="ignore")}
    return _base(message, message.data, push_type="alert", aps=aps, **headers) | {
        "notification": {"title": message.title, "body": message.body},
        "android": _android(message) | {"collapse_key": message.collapse_key, "notification": on_screen},
    }


def _badge_alone(message: PushMessage) -> dict[str, Any]:
    """Changes the number on the icon, without text or sound. A later one replaces it, as the number is absolute."""
    headers = {"apns-collapse-id": "badge"}
    return _base(message, {}, push_type="alert", aps={"badge": message.badge}, **headers)


def _background(message: PushMessage) -> dict[str, Any]:
    """Data for the app, which decides what to show. It has no sound, text or number."""
    return _base(message, message.data, push_type="background", aps={"content-available": 1})


def _base(
    message: PushMessage, data: dict[str, str], *, push_type: str, aps: dict[str, Any], **headers: str
) -> dict[str, Any]:
    # APNs refuses background pushes of high priority.
    is_urgent = message.is_urgent and push_type == "alert"
    return {
        "token": message.token,
        "data": data,
        "android": _android(message),
        "apns": {
            "headers": {
                "apns-push-type": push_type,
                "apns-priority": "10" if is_urgent else "5",
                "apns-expiration": str(int(time.time()) + message.ttl),
                **headers,
            },
            "payload": {"aps": aps},
        },
        "fcm_options": {"analytics_label": message.label},
    }


def _android(message: PushMessage) -> dict[str, Any]:
    return {"priority": "high" if message.is_urgent else "normal", "ttl": f"{message.ttl}s"}
