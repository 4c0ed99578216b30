"""The feed, as it is sent."""

from typing import Any

from rest_framework import serializers

from accounts.serializers import PersonSerializer
from core.serializers import OkReply, PageReply
from notifications import kinds


class TargetSerializer(serializers.Serializer):
    type = serializers.ChoiceField(choices=["post", "user", "conversation"])
    id = serializers.IntegerField()
    title = serializers.CharField(allow_blank=True)

    @classmethod
    def render(cls, row: Any) -> dict[str, Any]:
        kind = kinds.KINDS[row.kind]
        return {
            "type": kind.target_type,
            "id": row.target_id if kind.has_target else row.actor.id,
            "title": row.target_title if kind.target_type == "post" else row.actor.display_name,
        }


class NotificationSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(choices=list(kinds.KINDS))
    is_read = serializers.BooleanField()
    actor = PersonSerializer()
    target = TargetSerializer()
    count = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, row: Any) -> dict[str, Any]:
        """Section 2.5 of the contract, of a Notification with its actor, or of a FeedRow."""
        return {
            "id": row.id,
            "type": row.kind,
            "is_read": row.is_read,
            "actor": PersonSerializer.render(row.actor),
            "target": TargetSerializer.render(row),
            "count": row.count,
            "created_at": row.created_at,
        }


class FeedOutput(PageReply):
    notifications = NotificationSerializer(many=True)
    unread_count = serializers.IntegerField()


class CountsOutput(OkReply):
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class ReadAllOutput(CountsOutput):
    updated = serializers.IntegerField()


class ReadOutput(CountsOutput):
    notification = NotificationSerializer()


class RemovedOutput(CountsOutput):
    notification_id = serializers.IntegerField()
