"""The feed: what a client may ask, and what it gets."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from accounts.serializers import PersonSerializer
from core.feed_position import Position
from core.serializers import OkReply, PageReply
from notifications import kinds

DEFAULT_LIMIT = 20
MAX_LIMIT = 50
# Further down, a client pages by cursor: an offset is counted row by row.
MAX_OFFSET = 1_000_000


class _WholeNumberField(serializers.Field):
    """A whole number in a query string, at least `minimum`; above `maximum` it counts as that."""

    default_error_messages = {
        "invalid": _("This must be a whole number."),
        "too_small": _("This must be at least {minimum}."),
    }

    def __init__(self, *, minimum: int, maximum: int, **kwargs: Any) -> None:
        self.minimum, self.maximum = minimum, maximum
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        text = str(data)
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            self.fail("invalid")
        # Longer than any limit of ours, and maybe longer than Python cares to convert.
        number = int(digits) if len(digits) <= 18 else self.maximum
        if text.startswith("-"):
            number = -number
        if number < self.minimum:
            self.fail("too_small", minimum=self.minimum)
        return min(number, self.maximum)

    def to_representation(self, value: int) -> int:
        return value


class _FlagField(serializers.Field):
    """true or false in a query string."""

    default_error_messages = {"invalid": _("This must be true or false.")}

    def to_internal_value(self, data: Any) -> bool:
        if data not in ("true", "false", "1", "0"):
            self.fail("invalid")
        return data in ("true", "1")

    def to_representation(self, value: bool) -> bool:
        return value


class _CursorField(serializers.Field):
    default_error_messages = {"invalid": _("This cursor is not valid.")}

    def to_internal_value(self, data: Any) -> Position:
        try:
            return Position.decode(str(data))
        except ValueError:
            self.fail("invalid")

    def to_representation(self, value: Position) -> str:
        return value.encode()


class FeedQuery(serializers.Serializer):
    limit = _WholeNumberField(minimum=1, maximum=MAX_LIMIT, default=DEFAULT_LIMIT)
    offset = _WholeNumberField(minimum=0, maximum=MAX_OFFSET, default=0)
    cursor = _CursorField(default=None)
    unread = _FlagField(default=False)


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
