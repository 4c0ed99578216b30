"""The bodies of requests, and what messaging sends.

The services check length and form of texts (messaging/text.py). A class of output declares a shape and renders it from a row
of the selectors.
"""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from accounts.media import media_path
from accounts.serializers import PersonSerializer
from core.serializers import IdField, OkReply, PageReply, TextField
from core.text import json_time, parse_id
from messaging.conf import conf
from messaging.models import Message
from messaging.selectors.conversations import ConversationRow
from messaging.selectors.messages import MessageRow

# --- Bodies of requests ------------------------------------------------------------------------------


class StartConversationInput(serializers.Serializer):
    user_id = IdField()


class ClientIdField(TextField):
    defaults = {
        "required": False,
        "allow_blank": True,
        "help_text": "Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat.",
    }


class SendMessageInput(serializers.Serializer):
    body = TextField(allow_blank=True, help_text="1 to 4096 characters after trimming.")
    reply_to_id = IdField(required=False, allow_null=True)
    client_id = ClientIdField(allow_null=True)


class FormIdField(serializers.IntegerField):
    """An id in a form, where everything is text."""

    default_error_messages = {"not_an_id": _("This is not a valid id.")}

    def to_internal_value(self, data: Any) -> int:
        number = parse_id(data)
        if number is None:
            self.fail("not_an_id")
        return number


class SendImageInput(serializers.Serializer):
    # The image upload service chooses the error for an empty or broken file.
    file = serializers.FileField(allow_empty_file=True)
    body = TextField(required=False, allow_blank=True)
    reply_to_id = FormIdField(required=False)
    client_id = ClientIdField()


class EditMessageInput(serializers.Serializer):
    body = TextField(allow_blank=True, allow_null=True, help_text="null or empty only for the text of an image.")


class UpToMessageInput(serializers.Serializer):
    message_id = IdField(required=False, allow_null=True, help_text="Default: the newest message.")


class ReactionInput(serializers.Serializer):
    emoji = TextField(allow_blank=True, help_text="Exactly one emoji.")


class ReportInput(serializers.Serializer):
    reason = TextField(help_text="At most 100 characters.")
    comment = TextField(required=False, allow_blank=True, allow_null=True)


# --- Rows ----------------------------------------------------------------------------------------------


class CallSummaryOutput(serializers.Serializer):
    id = serializers.IntegerField()
    media = serializers.ChoiceField(choices=["audio", "video"])
    outcome = serializers.CharField()
    duration_s = serializers.IntegerField(allow_null=True)

    @classmethod
    def render(cls, row: ConversationRow | MessageRow) -> dict[str, Any]:
        return {
            "id": row.call_id,
            "media": row.call_media,
            "outcome": row.call_outcome,
            "duration_s": row.call_duration_s,
        }


class LastMessageOutput(serializers.Serializer):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Message.Kind.choices)
    body = serializers.CharField(allow_blank=True)
    sender_id = serializers.IntegerField()
    call = CallSummaryOutput(allow_null=True)
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, row: ConversationRow) -> dict[str, Any] | None:
        """None in a conversation without messages."""
        if row.message_id is None:
            return None
        return {
            "id": row.message_id,
            "kind": row.kind,
            "body": row.body or "",
            "sender_id": row.sender_id,
            "call": CallSummaryOutput.render(row) if row.kind == Message.Kind.CALL else None,
            "created_at": json_time(row.created_at),
        }


class ConversationOutput(serializers.Serializer):
    id = serializers.IntegerField()
    other_user = PersonSerializer()
    last_message = LastMessageOutput(allow_null=True)
    unread_count = serializers.IntegerField()
    last_read_id = serializers.IntegerField(help_text="0: nothing yet.")
    other_last_read_id = serializers.IntegerField(
        allow_null=True, help_text="null when either participant hides receipts or has blocked the other."
    )
    other_delivered_id = serializers.IntegerField(allow_null=True)
    is_blocked = serializers.BooleanField(help_text="One of the two has blocked the other.")

    @classmethod
    def render(cls, row: ConversationRow) -> dict[str, Any]:
        return {
            "id": row.id,
            "other_user": PersonSerializer.render(row.other_user),
            "last_message": LastMessageOutput.render(row),
            "unread_count": row.unread_count,
            "last_read_id": row.last_read_id,
            "other_last_read_id": row.read_receipt,
            "other_delivered_id": row.delivery_receipt,
            "is_blocked": bool(row.is_blocked),
        }


class MediaOutput(serializers.Serializer):
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    mime = serializers.CharField()
    size = serializers.IntegerField()
    thumb_url = serializers.CharField()
    blurhash = serializers.CharField()

    @classmethod
    def render(cls, row: MessageRow, token: str) -> dict[str, Any]:
        return {
            "width": row.image_width,
            "height": row.image_height,
            "mime": row.image_mime,
            "size": row.image_size,
            "thumb_url": media_path(token, thumb=True),
            "blurhash": row.image_blurhash,
        }


class ReplyPreviewOutput(serializers.Serializer):
    id = serializers.IntegerField()
    sender_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Message.Kind.choices)
    body = serializers.CharField(allow_null=True, help_text="At most 200 characters.")
    media_url = serializers.CharField(allow_null=True)
    thumb_url = serializers.CharField(allow_null=True)

    @classmethod
    def render(cls, row: MessageRow) -> dict[str, Any]:
        body, token = row.reply_body, row.reply_image_token
        return {
            "id": row.reply_to_id,
            "sender_id": row.reply_sender_id,
            "kind": row.reply_kind,
            "body": body[: conf.PREVIEW_LENGTH] if body is not None else None,
            "media_url": media_path(token) if token else None,
            "thumb_url": media_path(token, thumb=True) if token else None,
        }


class ReactionOutput(serializers.Serializer):
    emoji = serializers.CharField()
    count = serializers.IntegerField()
    user_ids = serializers.ListField(child=serializers.IntegerField())

    @classmethod
    def render(cls, uses: Iterable[tuple[int, str]]) -> list[dict[str, Any]]:
        """All reactions to a message, of (user, emoji) in order of use."""
        users: dict[str, list[int]] = {}
        for user_id, emoji in uses:
            users.setdefault(emoji, []).append(user_id)
        return [{"emoji": emoji, "count": len(user_ids), "user_ids": user_ids} for emoji, user_ids in users.items()]


class MessageOutput(serializers.Serializer):
    id = serializers.IntegerField()
    conversation_id = serializers.IntegerField()
    sender_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Message.Kind.choices)
    body = serializers.CharField(allow_null=True)
    media_url = serializers.CharField(allow_null=True)
    media = MediaOutput(allow_null=True)
    reply_to_id = serializers.IntegerField(allow_null=True)
    reply_to = ReplyPreviewOutput(allow_null=True)
    is_edited = serializers.BooleanField()
    edited_at = serializers.DateTimeField(allow_null=True)
    reactions = ReactionOutput(many=True)
    call = CallSummaryOutput(allow_null=True)
    client_id = serializers.CharField(allow_null=True, help_text="Only its sender sees it.")
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, row: MessageRow, viewer_id: int) -> dict[str, Any]:
        """Section 2.4 of the contract, with the fields that this service adds."""
        token = row.image_token
        return {
            "id": row.id,
            "conversation_id": row.conversation_id,
            "sender_id": row.sender_id,
            "kind": row.kind,
            "body": row.body,
            "media_url": media_path(token) if token else None,
            "media": MediaOutput.render(row, token) if token else None,
            "reply_to_id": row.reply_to_id,
            "reply_to": ReplyPreviewOutput.render(row) if row.reply_sender_id is not None else None,
            "is_edited": row.edited_at is not None,
            "edited_at": json_time(row.edited_at) if row.edited_at is not None else None,
            "reactions": ReactionOutput.render(row.reactions) if row.reactions else [],
            "call": CallSummaryOutput.render(row) if row.kind == Message.Kind.CALL else None,
            "client_id": row.client_id if row.sender_id == viewer_id else None,
            "created_at": json_time(row.created_at),
        }


# --- Replies -------------------------------------------------------------------------------------------


class UsersReply(OkReply):
    users = PersonSerializer(many=True)


class ConversationsReply(PageReply):
    conversations = ConversationOutput(many=True)


class ConversationReply(OkReply):
    conversation = ConversationOutput()


class MessagesReply(OkReply):
    messages = MessageOutput(many=True)
    has_more = serializers.BooleanField()


class SearchReply(MessagesReply):
    next_before = serializers.IntegerField(
        allow_null=True, help_text="`before` of the next page; may lie below the last message found."
    )


class MessageReply(OkReply):
    message = MessageOutput()


class DeletedReply(OkReply):
    message_id = serializers.IntegerField()


class ReadReply(OkReply):
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class ConversationClearedReply(OkReply):
    cleared_up_to_id = serializers.IntegerField()


class ReactionsReply(OkReply):
    reactions = ReactionOutput(many=True)


class ReportReply(OkReply):
    report_id = serializers.IntegerField()
