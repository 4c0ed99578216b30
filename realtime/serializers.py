"""The shapes of the real-time channel: the log over REST, and the data of the frames that are not in the log."""

import re
from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from core.api.open_values import OpenValueField, OpenValues
from core.api.pagination import Limit
from core.api.shapes import Shape
from core.version import VERSION
from realtime.calls.models import Call
from realtime.calls.serializers import CallSerializer
from realtime.conf import conf
from realtime.devices import Device
from realtime.services.event_log import Position

# --- The log over REST -----------------------------------------------------------------------------


CHANGES = Limit(conf.CHANGES_LIMIT, conf.CHANGES_MAX)


class QueryIntegerField(serializers.IntegerField):
    """A whole number in a query string: digits only, so neither `1.0` nor an empty text."""

    def to_internal_value(self, data: float | int | str) -> int:
        if not re.fullmatch(r"-?[0-9]+", str(data)):
            self.fail("invalid")
        return super().to_internal_value(data)


class ChangesQuery(serializers.Serializer):
    # No upper limits: a log never has such an epoch or number, so the client has to reload.
    epoch = serializers.CharField(required=False, allow_blank=True)
    since = QueryIntegerField(min_value=0, required=False)
    limit = QueryIntegerField(min_value=1, default=CHANGES.default, help_text=CHANGES.description)

    def validate_limit(self, limit: int) -> int:
        return min(limit, CHANGES.maximum)


# --- Events without a number -----------------------------------------------------------------------


class InConversation(serializers.Serializer):
    conversation_id = serializers.IntegerField()


class ReadyData(Shape):
    user_id = serializers.IntegerField()
    epoch = serializers.CharField()
    seq = serializers.IntegerField(source="head_seq")
    min_seq = serializers.IntegerField()
    ping_s = serializers.IntegerField()
    window = serializers.IntegerField()
    calls = CallSerializer(many=True)
    version = serializers.CharField(help_text="The version of the server, for a client that may be older.")

    @classmethod
    def render(cls, position: Position, calls: Iterable[Call], *, device: Device) -> dict[str, Any]:
        return cls.build(
            position,
            user_id=device.user_id,
            ping_s=conf.PING_SECONDS,
            window=conf.WINDOW_EVENTS,
            calls=[CallSerializer.render(call, device=device) for call in calls],
            version=VERSION,
        )


class PositionData(serializers.Serializer):
    seq = serializers.IntegerField()


RESYNC_REASONS = OpenValues(
    "ResyncReason",
    {
        "epoch": "The log is another one, as after a restored backup.",
        "too_old": "The events after the position are no longer kept.",
        "ahead": "The position is beyond the end of the log.",
    },
)


class ResyncData(PositionData):
    reason = OpenValueField(RESYNC_REASONS)


class TypingData(InConversation):
    user_id = serializers.IntegerField()
    is_typing = serializers.BooleanField(help_text="Expires after 6 s unless it is repeated.")


class PresenceData(serializers.Serializer):
    user_id = serializers.IntegerField()
    online = serializers.BooleanField()
    last_seen_at = serializers.DateTimeField(allow_null=True)


class DeliveredData(InConversation):
    user_id = serializers.IntegerField()
    delivered_id = serializers.IntegerField()


class BadgeData(serializers.Serializer):
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class ExpiringData(serializers.Serializer):
    expires_at = serializers.DateTimeField()


class GoAwayData(serializers.Serializer):
    retry_ms = serializers.IntegerField()


# --- Replies ---------------------------------------------------------------------------------------


class NothingData(serializers.Serializer):
    pass


class RenewedData(serializers.Serializer):
    user_id = serializers.IntegerField()


class PresenceReplyData(serializers.Serializer):
    presence = PresenceData(many=True)
