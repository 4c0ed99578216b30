"""The `data` of every frame that the server sends: the source of the AsyncAPI document."""

from rest_framework import serializers

from accounts.serializers.profile import ProfileSerializer
from messaging.serializers import outputs
from notifications.serializers.feed import NotificationSerializer
from realtime.calls.serializers import CallRingingData, CallSerializer, CallSignalData, CallUpdatedData

# --- Durable events ------------------------------------------------------------------------------


class MessageData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
    message = outputs.MessageOutput()
    unread_count = serializers.IntegerField(help_text="What the reader of this event has left unread here.")


class MessageDeletedData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
    message_id = serializers.IntegerField()
    unread_count = serializers.IntegerField()
    last_message = outputs.LastMessageOutput(allow_null=True)


class ReactionsData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
    message_id = serializers.IntegerField()
    reactions = outputs.ReactionOutput(many=True)


class ConversationData(serializers.Serializer):
    conversation = outputs.ConversationOutput(allow_null=True, help_text="null when it has gone meanwhile.")


class ConversationReadData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
    user_id = serializers.IntegerField(help_text="Who has read.")
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField(help_text="Of the reader of this event.")


class ClearedData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
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


class TypingData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
    user_id = serializers.IntegerField()
    is_typing = serializers.BooleanField(help_text="Expires after 6 s unless it is repeated.")


class PresenceData(serializers.Serializer):
    user_id = serializers.IntegerField()
    online = serializers.BooleanField()
    last_seen_at = serializers.DateTimeField(allow_null=True)


class DeliveredData(serializers.Serializer):
    conversation_id = serializers.IntegerField()
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


# What each durable event carries; realtime.socket_events.EVENTS renders the same ones.
DURABLE: dict[str, type[serializers.Serializer]] = {
    "message.new": MessageData,
    "message.edited": MessageData,
    "message.deleted": MessageDeletedData,
    "message.reactions": ReactionsData,
    "conversation.created": ConversationData,
    "conversation.read": ConversationReadData,
    "conversation.cleared": ClearedData,
    "block.changed": BlockData,
    "profile.updated": ProfileData,
    "notification.new": NotificationData,
    "notification.read_all": AllReadData,
    "call.updated": CallUpdatedData,
}

EPHEMERAL: dict[str, type[serializers.Serializer]] = {
    "ready": ReadyData,
    "synced": PositionData,
    "resync": ResyncData,
    "pong": PositionData,
    "typing": TypingData,
    "presence": PresenceData,
    "conversation.delivered": DeliveredData,
    "badge": BadgeData,
    "auth.expiring": ExpiringData,
    "goaway": GoAwayData,
    "call.ringing": CallRingingData,
    "call.signal": CallSignalData,
}
