"""The shapes of the real-time channel: the log over REST, and the data of the frames that are not in the log."""

import re
from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from core.pagination import Limit
from core.serializers import OkReply
from realtime.calls.models import Call
from realtime.calls.serializers import CallSerializer
from realtime.conf import conf
from realtime.kinds import SocketRef
from realtime.services.log import Position

# --- The log over REST -----------------------------------------------------------------------------


CHANGES = Limit(conf.CHANGES_LIMIT, conf.CHANGES_MAX)


class QueryIntegerField(serializers.IntegerField):
    """A whole number in a query string: digits only, so neither `1.0` nor an empty text."""

    def to_internal_value(self, data: float | int | str) -> int:
        if not re.fullmatch(r"-?[0-9]+", str(data)):
            self.fail("invalid")
        return super().to_internal_value(data)


class ChangesQuery(serializers.Serializer):
    # Without upper limits: no log has such an epoch or number, so that the client has to reload.
    epoch = serializers.CharField(required=False, allow_blank=True)
    since = QueryIntegerField(min_value=0, required=False)
    limit = QueryIntegerField(min_value=1, default=CHANGES.default, help_text=CHANGES.description)

    def validate_limit(self, limit: int) -> int:
        return min(limit, CHANGES.maximum)


class LoggedEventSerializer(serializers.Serializer):
    type = serializers.CharField()
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    data = serializers.DictField()  # type: ignore[assignment]


class ChangesReply(OkReply):
    epoch = serializers.CharField()
    events = LoggedEventSerializer(many=True)
    seq = serializers.IntegerField()
    has_more = serializers.BooleanField()
    reset = serializers.BooleanField()


# --- Events without a number -----------------------------------------------------------------------


class InConversation(serializers.Serializer):
    conversation_id = serializers.IntegerField()


class ReadyData(serializers.Serializer):
    user_id = serializers.IntegerField()
    epoch = serializers.CharField()
    seq = serializers.IntegerField()
    min_seq = serializers.IntegerField()
    ping_s = serializers.IntegerField()
    window = serializers.IntegerField()
    calls = CallSerializer(many=True)

    @classmethod
    def render(cls, position: Position, calls: Iterable[Call], *, viewer_id: int, device: SocketRef) -> dict[str, Any]:
        return {
            "user_id": viewer_id,
            "epoch": position.epoch,
            "seq": position.head_seq,
            "min_seq": position.min_seq,
            "ping_s": conf.PING_SECONDS,
            "window": conf.WINDOW_EVENTS,
            "calls": [CallSerializer.render(call, viewer_id=viewer_id, device=device) for call in calls],
        }


class PositionData(serializers.Serializer):
    seq = serializers.IntegerField()


class ResyncData(PositionData):
    reason = serializers.CharField()


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
