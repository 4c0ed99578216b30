"""Defaults of this app; a setting `NOTIFICATIONS_<NAME>` overrides the one of that name."""

from dataclasses import dataclass

from accounts.conf import prefixed


@dataclass(frozen=True)
class Defaults:
    # Feed
    GROUP_HOURS: int = 24
    POLL_SECONDS: int = 30
    KEEP_READ_DAYS: int = 90
    KEEP_DAYS: int = 180
    KEEP_PER_USER: int = 1000

    # Devices
    DEVICES_PER_USER: int = 20
    KEEP_UNSEEN_DEVICE_DAYS: int = 270

    # Events of other services: name:key:type,type[;name:key:type…], a name twice while its key changes.
    EVENT_SOURCES: str = ""
    EVENTS_PER_REQUEST: int = 500
    EVENT_TOLERANCE_SECONDS: int = 300
    KEEP_EVENT_DAYS: int = 7


conf = prefixed("NOTIFICATIONS", Defaults())
