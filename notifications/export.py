"""The data of notifications in a user's data export."""

from collections.abc import Iterator
from typing import Any

from notifications.models import Delivery, Device, Notification
from notifications.selectors import preferences_of
from notifications.serializers import NotificationSerializer, PreferencesInput

ROWS_AT_ONCE = 1000


def export_files(user_id: int) -> Iterator[tuple[str, Any]]:
    """The feed, the preferences, the devices (their tokens masked) and the log of deliveries."""
    rows = Notification.objects.filter(recipient_id=user_id).select_related("actor").order_by("-created_at", "-id")
    yield "feed.json", (NotificationSerializer.render(row) for row in rows.iterator(ROWS_AT_ONCE))
    yield "preferences.json", PreferencesInput.render(preferences_of(user_id))
    yield "devices.json", [_device(device) for device in Device.objects.filter(user_id=user_id).order_by("id")]
    deliveries = Delivery.objects.filter(recipient_id=user_id).order_by("id")
    log = deliveries.values("channel", "kind", "state", "created_at", "finished_at")
    yield "deliveries.json", log.iterator(ROWS_AT_ONCE)


def _device(device: Device) -> dict[str, Any]:
    return {
        "platform": device.type,
        "device_id": device.device_id,
        "token": device.masked_token,
        "locale": device.locale,
        "app_version": device.app_version,
        "created_at": device.date_created,
        "last_seen_at": device.last_seen_at,
    }
