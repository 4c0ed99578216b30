"""A push in the form of FCM's v1 API: all values of `data` are strings."""

import math
from datetime import datetime
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from notifications.conf import conf
from notifications.selectors import PushContent

# The limit of APNs.
_COLLAPSE_BYTES = 64


def notification_message(token: str, content: PushContent, *, badge: int) -> dict[str, Any]:
    """A shown push about a row of the feed. `badge` is the number of unread rows."""
    kind = content.kind
    on_screen: dict[str, Any] = {"tag": content.tag}
    if badge:
        on_screen["notification_count"] = badge
    return {
        "token": token,
        "notification": {"title": content.title, "body": content.body},
        "data": content.data,
        "android": {
            "collapse_key": kind.collapse_key,
            "priority": "high" if kind.is_urgent else "normal",
            "ttl": f"{conf.PUSH_SECONDS}s",
            "notification": on_screen,
        },
        "apns": {
            "headers": {
                "apns-collapse-id": content.tag.encode()[:_COLLAPSE_BYTES].decode(errors="ignore"),
                "apns-priority": "10" if kind.is_urgent else "5",
            },
            "payload": {"aps": {"badge": badge, "thread-id": kind.collapse_key}},
        },
        "fcm_options": {"analytics_label": kind.name},
    }


def call_message(
    token: str, data: dict[str, str], *, quiet: bool, expires_at: datetime, now: datetime
) -> dict[str, Any]:
    """A data-only push about a call: the app decides what to show. It expires when the call stops ringing."""
    seconds = max(1, math.floor((expires_at - now).total_seconds()))
    return {
        "token": token,
        "data": data | ({"quiet": "1"} if quiet else {}),
        "android": {"priority": "high", "ttl": f"{seconds}s"},
        "apns": {
            "headers": {
                "apns-push-type": "background",
                "apns-priority": "5",
                "apns-expiration": str(math.floor(expires_at.timestamp())),
            },
            "payload": {"aps": {"content-available": 1}},
        },
        "fcm_options": {"analytics_label": data["type"]},
    }


def test_message(token: str, *, language: str) -> dict[str, Any]:
    """A shown push with a text that pushes arrive."""
    with translation.override(language):
        title, body = _("Test notification"), _("Notifications arrive on this device.")
    return {
        "token": token,
        "notification": {"title": title, "body": body},
        "data": {"type": "test"},
        "android": {"priority": "high", "ttl": "600s", "notification": {"tag": "test"}},
        "apns": {"headers": {"apns-priority": "10"}, "payload": {"aps": {"thread-id": "test"}}},
        "fcm_options": {"analytics_label": "test"},
    }
