"""Defaults of this app; a setting `NOTIFICATIONS_<NAME>` overrides the one of that name."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from core.conf import ALLOW, RatesByScope, prefixed

# The values of PUSH_BACKEND. A new push provider is a subclass of `notifications.channels.PushChannel` and an entry
# here.
PUSH_PROVIDERS = {
    "fcm": "notifications.channels.fcm.FcmChannel",
    "console": "notifications.channels.ConsoleChannel",
    "outbox": "notifications.channels.OutboxChannel",
    "off": "",
}


@dataclass(frozen=True)
class Defaults:
    # Feed
    FEED_PAGE: int = 20
    FEED_PAGE_MAX: int = 50
    GROUP_HOURS: int = 24
    POLL_SECONDS: int = 30
    KEEP_READ_DAYS: int = 90
    KEEP_DAYS: int = 180
    KEEP_PER_USER: int = 1000

    RATES: RatesByScope = field(
        default_factory=lambda: {
            "test_push": (3, 60, ALLOW),
            # Requests of other services with up to EVENTS_PER_REQUEST events each, before the signature is checked.
            "events": (1200, 60, ALLOW),
        }
    )

    # Devices
    DEVICES_PER_USER: int = 20
    KEEP_UNSEEN_DEVICE_DAYS: int = 270

    # Events of other services: name:key:type,type[;name:key:type…]. A name may appear twice while its key changes.
    EVENT_SOURCES: str = ""
    EVENTS_PER_REQUEST: int = 500
    EVENT_TOLERANCE_SECONDS: int = 300
    KEEP_EVENT_DAYS: int = 7

    # Delivery
    # The lease of a claimed delivery. After it any worker may claim the delivery again.
    LEASE_SECONDS: float = 60
    BATCH: int = 500
    PUSH_THREADS: int = 24
    MAIL_THREADS: int = 4
    # How many deliveries to one user may run at once, so that one user cannot occupy all threads.
    THREADS_PER_RECIPIENT: int = 4
    SWEEP_SECONDS: float = 2
    TRIES: int = 6
    RETRY_SECONDS: tuple[float, ...] = (1, 4, 15, 60, 300)
    RETRY_JITTER: float = 0.3
    # A channel pauses this long when its service refuses all requests, then twice as long, up to the second value.
    PAUSE_SECONDS: tuple[float, float] = (2, 30)
    # A graceful stop waits this long for running deliveries.
    STOP_SECONDS: float = 12
    CODE_MAIL_SECONDS: int = 600
    MAIL_SECONDS: int = 3 * 24 * 3600
    LOG_DAYS: int = 14
    # With PostgreSQL, NOTIFY wakes the workers of other processes before their next sweep.
    NOTIFY: bool = True
    # Exchange takes up to 30 seconds to accept a mail, and other servers scan it first. With a shorter time-out the
    # mail would be sent again and arrive more than once.
    MAIL_ACCEPT_SECONDS: float = 40
    MAIL_TRANSPORT: dict[str, Any] = field(
        default_factory=lambda: {"BACKEND": "django.core.mail.backends.console.EmailBackend", "OPTIONS": {}}
    )

    # Webhooks: a pool of threads for each target
    WEBHOOK_THREADS: int = 8
    WEBHOOK_RETRY_SECONDS: tuple[float, ...] = (5, 30, 120, 600, 3600, 6 * 3600, 24 * 3600)
    WEBHOOK_RETRY_JITTER: float = 0.2
    # As long as an event is kept.
    WEBHOOK_SECONDS: int = 14 * 24 * 3600

    # Push
    PUSH_BACKEND: str = "outbox"
    PUSH_OUTBOX: Path = Path("var/push")
    PUSH_SECONDS: int = 24 * 3600
    PUSH_GROUP_SECONDS: int = 60
    # A device with an open socket gets this long to acknowledge the event there before a push is sent.
    PUSH_SOCKET_SECONDS: float = 3
    PUSH_TIMEOUT_SECONDS: float = 10
    FCM_CREDENTIALS: str = ""
    FCM_ENDPOINT: str = ""


conf = prefixed("NOTIFICATIONS", Defaults())


def loopback_endpoint(endpoint: str) -> str:
    """The endpoint without its last slash. ImproperlyConfigured for anything but loopback: this server
    receives the access tokens and every push."""
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        is_loopback = (host == "localhost" or ipaddress.ip_address(host).is_loopback) and parts.port != 0
    except ValueError:  # not an address, or an invalid port
        is_loopback = False
    if not is_loopback or parts.scheme not in ("http", "https") or parts.username or parts.query:
        raise ImproperlyConfigured("PUSH_FCM_ENDPOINT may only point to this machine, as http://127.0.0.1:<port>.")
    return endpoint.rstrip("/")
