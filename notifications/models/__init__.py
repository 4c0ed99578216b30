"""The feed, the devices it reaches, and the queue of everything that leaves the house."""

from notifications.models.delivery import ChannelPause, Delivery
from notifications.models.devices import Device
from notifications.models.feed import IngestedEvent, Member, Notification, Preferences

__all__ = [
    "ChannelPause",
    "Delivery",
    "Device",
    "IngestedEvent",
    "Member",
    "Notification",
    "Preferences",
]
