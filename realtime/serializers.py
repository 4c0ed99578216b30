"""The shapes of the real-time channel: the log and calls over REST, and the data of the frames that the server sends (the
source of the AsyncAPI document)."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rest_framework import serializers

from accounts.serializers.users import ProfileSerializer
from core.serializers import OkReply
from core.text import json_time
from messaging.selectors import SeenMessage
from messaging.serializers import outputs
from notifications.serializers import NotificationSerializer
from realtime.conf import conf
from realtime.models import Call, CallParticipant, SocketRef

# --- The log over REST -----------------------------------------------------------------------------


class QueryIntegerField(serializers.IntegerField):
    """A whole number in a query string: digits only, so neither `1.0` nor an empty text."""

    def to_internal_value(self, data: float | int | str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,40}", str(data)):
            self.fail("invalid")
        return super().to_internal_value(data)


class ChangesQuery(serializers.Serializer):
    epoch = serializers.CharField(max_length=64, required=False, allow_blank=True)
    since = QueryIntegerField(min_value=0, max_value=2**63 - 1, required=False)
    limit = QueryIntegerField(min_value=1, default=conf.CHANGES_LIMIT)

    def validate_limit(self, limit: int) -> int:
        return min(limit, conf.CHANGES_MAX)


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


# --- Calls -------------------------------------------------------------------------------------------


def _expiry(call: Call, participants: Iterable[CallParticipant]) -> datetime | None:
    if call.state == Call.State.ENDED:
        return None
    if call.state == Call.State.ACTIVE and any(participant.gone_at is None for participant in participants):
        return None
    return call.expires_at


def _is_bound(participant: CallParticipant | None, device: SocketRef) -> bool:
    if participant is None or participant.session_id is None:
        return False
    # A REST request has no socket: compare the session that is bound to the call.
    if not device.socket_id:
        return participant.session_id == device.session_id
    return participant.socket_id == device.socket_id


class CallSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    conversation_id = serializers.IntegerField()
    caller_id = serializers.IntegerField()
    media = serializers.ChoiceField(Call.Media.choices)
    state = serializers.ChoiceField(Call.State.choices)
    outcome = serializers.ChoiceField(Call.Outcome.choices, allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    duration_s = serializers.IntegerField(allow_null=True)
    bound_to_you = serializers.BooleanField()

    @classmethod
    def render(
        cls, call: Call, *, viewer_id: int, device: SocketRef, participants: Iterable[CallParticipant]
    ) -> dict[str, Any]:
        """A call as one device of a participant sees it.

        `expires_at` is the deadline of the current state; null without a deadline: in an active call with
        at least one open bound socket, and in an ended call.
        """
        by_user = {participant.user_id: participant for participant in participants}
        expires_at = _expiry(call, by_user.values())
        return {
            "id": call.id,
            "conversation_id": call.conversation_id,
            "caller_id": call.caller_id,
            "media": call.media,
            "state": call.state,
            "outcome": call.outcome or None,
            "created_at": json_time(call.created_at),
            "expires_at": json_time(expires_at) if expires_at else None,
            "answered_at": json_time(call.answered_at) if call.answered_at else None,
            "ended_at": json_time(call.ended_at) if call.ended_at else None,
            "duration_s": call.duration_s,
            "bound_to_you": _is_bound(by_user.get(viewer_id), device),
        }


class CallReply(OkReply):
    call = CallSerializer()


class CallsReply(OkReply):
    calls = CallSerializer(many=True)
    has_more = serializers.BooleanField()


class IceServer(serializers.Serializer):
    urls = serializers.ListField(child=serializers.CharField())
    username = serializers.CharField(required=False)
    credential = serializers.CharField(required=False)


class IceServersReply(OkReply):
    ice_servers = IceServer(many=True)
    ice_transport_policy = serializers.ChoiceField(["all", "relay"])


class CallRouteReply(CallReply, IceServersReply):
    """A call with the servers for its media."""


class OneOf(serializers.ChoiceField):
    """A choice that accepts JSON strings only."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return str(super().to_internal_value(data))


class DeclineInput(serializers.Serializer):
    reason = OneOf([Call.Outcome.DECLINED.value, Call.Outcome.BUSY.value], default=Call.Outcome.DECLINED.value)


# --- Durable events ------------------------------------------------------------------------------


class InConversation(serializers.Serializer):
    conversation_id = serializers.IntegerField()


class MessageData(InConversation):
    message = outputs.MessageOutput()
    unread_count = serializers.IntegerField(help_text="What the reader of this event has left unread here.")

    @classmethod
    def render(cls, seen: SeenMessage, viewer_id: int) -> dict[str, Any]:
        return {
            "conversation_id": seen.message.conversation_id,
            "message": outputs.MessageOutput.render(seen.message, viewer_id),
            "unread_count": seen.unread_count,
        }


class MessageDeletedData(InConversation):
    message_id = serializers.IntegerField()
    unread_count = serializers.IntegerField()
    last_message = outputs.LastMessageOutput(allow_null=True)


class ReactionsData(InConversation):
    message_id = serializers.IntegerField()
    reactions = outputs.ReactionOutput(many=True)


class ConversationData(serializers.Serializer):
    conversation = outputs.ConversationOutput(allow_null=True, help_text="null when it has gone meanwhile.")


class ConversationReadData(InConversation):
    user_id = serializers.IntegerField(help_text="Who has read.")
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField(help_text="Of the reader of this event.")


class ClearedData(InConversation):
    cleared_up_to_id = serializers.IntegerField()


class BlockData(serializers.Serializer):
    user_id = serializers.IntegerField()
    blocked = serializers.BooleanField()


class ProfileData(serializers.Serializer):
    user = ProfileSerializer(allow_null=True)


class NotificationData(serializers.Serializer):
    notification_id = serializers.IntegerField()
    notification = NotificationSerializer(allow_null=True, help_text="null when it has gone meanwhile.")
    unread_count = serializers.IntegerField()
    silent = serializers.BooleanField(required=False, help_text="Quiet mode: show, but make no sound.")


class AllReadData(serializers.Serializer):
    unread_count = serializers.IntegerField()


class CallUpdatedData(serializers.Serializer):
    call = CallSerializer(allow_null=True, help_text="null when one of the two has left for good.")


# --- Events without a number -----------------------------------------------------------------------


class ReadyData(serializers.Serializer):
    user_id = serializers.IntegerField()
    epoch = serializers.CharField()
    seq = serializers.IntegerField()
    min_seq = serializers.IntegerField()
    ping_s = serializers.IntegerField()
    window = serializers.IntegerField()
    calls = CallSerializer(many=True)


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


class CallRingingData(serializers.Serializer):
    call_id = serializers.IntegerField()


class CallSignalData(CallRingingData):
    kind = serializers.ChoiceField(["offer", "answer", "ice", "restart", "media"])
    payload = serializers.DictField()


# --- Replies ---------------------------------------------------------------------------------------


class NothingData(serializers.Serializer):
    pass


class RenewedData(serializers.Serializer):
    user_id = serializers.IntegerField()


class PresenceReplyData(serializers.Serializer):
    presence = PresenceData(many=True)
