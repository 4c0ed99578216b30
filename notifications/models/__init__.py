"""The feed, the push devices, and the queue of outgoing deliveries."""

from notifications.models.delivery import ChannelPause, Delivery, Device
from notifications.models.feed import IngestedEvent, Member, Notification, Preferences
