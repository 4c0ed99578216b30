"""The bodies of requests, and the data that messaging sends.

The services check length and form of texts (messaging/text.py). A class of output is a shape of a row of the selectors.
"""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from accounts.serializers import MediaPathField, PersonProfileOutput, PersonSerializer
from core.api.open_values import OpenValueField, OpenValues
from core.api.serializers import IdField, OkReply, PageReply, PictureField, TextField
from core.api.shapes import Shape
from core.ids import parse_id
from messaging.conf import CLIENT_ID_LENGTH, EMOJI_LENGTH, REPORT_REASON_LENGTH, conf
from messaging.models import Message
from messaging.selectors.conversations import ConversationRow
from messaging.selectors.messages import MessageRow, ReactionRow

# --- Bodies of requests ------------------------------------------------------------------------------


class StartConversationInput(serializers.Serializer):
    user_id = IdField()


class ClientIdField(TextField):
    defaults = {
        "required": False,
        "allow_blank": True,
        "help_text": f"Chosen by the client, 1 to {CLIENT_ID_LENGTH} of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat.",
        "limits": {"maxLength": CLIENT_ID_LENGTH, "pattern": "^[A-Za-z0-9_-]*$"},
    }


class BodyField(TextField):
    """The text of a message without an image."""

    defaults = {
        "allow_blank": True,
        "help_text": f"1 to {conf.BODY_LENGTH} characters after trimming.",
        "limits": {"minLength": 1, "maxLength": conf.BODY_LENGTH},
    }


class ImageTextField(TextField):
    """The text of a message that may have an image, so the text may be empty."""

    defaults = {"allow_blank": True, "limits": {"maxLength": conf.BODY_LENGTH}}


class SendMessageInput(serializers.Serializer):
    body = BodyField()
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
    file = PictureField()
    body = ImageTextField(required=False)
    reply_to_id = FormIdField(required=False)
    client_id = ClientIdField()


class EditMessageInput(serializers.Serializer):
    body = ImageTextField(allow_null=True, help_text="null or empty only for the text of an image.")


class UpToMessageInput(serializers.Serializer):
    message_id = IdField(required=False, allow_null=True, help_text="Default: the newest message.")


class ReactionInput(serializers.Serializer):
    emoji = TextField(
        allow_blank=True, help_text="Exactly one emoji.", limits={"minLength": 1, "maxLength": EMOJI_LENGTH}
    )


class ReportInput(serializers.Serializer):
    reason = TextField(
        help_text=f"At most {REPORT_REASON_LENGTH} characters.", limits={"maxLength": REPORT_REASON_LENGTH}
    )
    comment = TextField(
        required=False, allow_blank=True, allow_null=True, limits={"maxLength": conf.REPORT_COMMENT_LENGTH}
    )


# --- Lists that may grow ----------------------------------------------------------------------------------

MESSAGE_KINDS = OpenValues(
    "MessageKind",
    {
        Message.Kind.TEXT: "A text, in `body`.",
        Message.Kind.IMAGE: "A picture, in `media_url` and `media`. `body` is its text, or null.",
        Message.Kind.CALL: "A call that has ended, in `call`. `body` names it in English.",
    },
)
CALL_OUTCOMES = OpenValues(
    "CallOutcome",
    {
        "completed": "The two have talked.",
        "missed": "The callee has not answered in time.",
        "canceled": "The caller has ended it before an answer.",
        "declined": "The callee has declined it.",
        "busy": "The callee was in another call.",
        "failed": "No connection came about.",
        "lost": "Both devices have lost the connection.",
    },
)

# --- Rows ----------------------------------------------------------------------------------------------


class CallSummaryOutput(Shape):
    id = serializers.IntegerField(source="call_id")
    media = serializers.ChoiceField(source="call_media", choices=["audio", "video"])
    outcome = OpenValueField(CALL_OUTCOMES, source="call_outcome")
    duration_s = serializers.IntegerField(source="call_duration_s", allow_null=True)


class LastMessageOutput(Shape):
    id = serializers.IntegerField(source="message_id")
    kind = OpenValueField(MESSAGE_KINDS)
    body = serializers.CharField(allow_blank=True)
    sender_id = serializers.IntegerField()
    call = CallSummaryOutput(allow_null=True)
    created_at = serializers.DateTimeField()

    @classmethod
    def render(cls, row: ConversationRow) -> dict[str, Any] | None:
        """None in a conversation without messages."""
        if row.message_id is None:
            return None
        call = CallSummaryOutput.build(row) if row.kind == Message.Kind.CALL else None
        return cls.build(row, body=row.body or "", call=call)


class ConversationOutput(Shape):
    id = serializers.IntegerField()
    other_user = PersonSerializer()
    last_message = LastMessageOutput(allow_null=True)
    unread_count = serializers.IntegerField()
    last_read_id = serializers.IntegerField(help_text="0: nothing yet.")
    other_last_read_id = serializers.IntegerField(
        source="read_receipt",
        allow_null=True,
        help_text="null when either participant hides receipts. A block keeps it as it was.",
    )
    other_delivered_id = serializers.IntegerField(source="delivery_receipt", allow_null=True)
    is_blocked = serializers.BooleanField(help_text="One of the two has blocked the other.")

    @classmethod
    def render(cls, row: ConversationRow) -> dict[str, Any]:
        return cls.build(row, last_message=LastMessageOutput.render(row), is_blocked=bool(row.is_blocked))


class MediaOutput(Shape):
    width = serializers.IntegerField(source="image_width")
    height = serializers.IntegerField(source="image_height")
    mime = serializers.CharField(source="image_mime")
    size = serializers.IntegerField(source="image_size")
    thumb_url = MediaPathField(source="image_token", thumb=True)
    blurhash = serializers.CharField(source="image_blurhash")


class ReplyPreviewOutput(Shape):
    id = serializers.IntegerField(source="reply_to_id")
    sender_id = serializers.IntegerField(source="reply_sender_id")
    kind = OpenValueField(MESSAGE_KINDS, source="reply_kind")
    body = serializers.CharField(allow_null=True, help_text=f"At most {conf.PREVIEW_LENGTH} characters.")
    media_url = MediaPathField(source="reply_image_token", allow_null=True)
    thumb_url = MediaPathField(source="reply_image_token", thumb=True, allow_null=True)

    @classmethod
    def render(cls, row: MessageRow) -> dict[str, Any]:
        body = row.reply_body
        return cls.build(row, body=body[: conf.PREVIEW_LENGTH] if body is not None else None)


class ReactionOutput(Shape):
    emoji = serializers.CharField()
    count = serializers.IntegerField()
    user_ids = serializers.ListField(child=serializers.IntegerField())

    @classmethod
    def render(cls, row: ReactionRow) -> dict[str, Any]:
        return cls.build(row, count=len(row.user_ids))


class MessageOutput(Shape):
    """Section 2.4 of the contract, with the fields that this service adds."""

    id = serializers.IntegerField()
    conversation_id = serializers.IntegerField()
    sender_id = serializers.IntegerField()
    kind = OpenValueField(MESSAGE_KINDS)
    body = serializers.CharField(allow_null=True)
    media_url = MediaPathField(source="image_token", allow_null=True)
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
        return cls.build(
            row,
            media=MediaOutput.build(row) if row.image_token else None,
            reply_to=ReplyPreviewOutput.render(row) if row.reply_sender_id is not None else None,
            is_edited=row.edited_at is not None,
            call=CallSummaryOutput.build(row) if row.kind == Message.Kind.CALL else None,
            client_id=row.client_id if row.sender_id == viewer_id else None,
        )


# --- Replies -------------------------------------------------------------------------------------------


class UsersReply(OkReply):
    users = PersonSerializer(many=True)


class UserReply(OkReply):
    user = PersonProfileOutput()


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


class SearchEverywhereReply(PageReply):
    messages = MessageOutput(many=True)


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


class ReactionsReply(OkReply, Shape):
    reactions = ReactionOutput(source="*", many=True)


class ReportReply(OkReply):
    report_id = serializers.IntegerField()
    reason = serializers.CharField(help_text="That of the first report of this message by this user, which stays.")
    is_repeated = serializers.BooleanField(help_text="The user has reported this message before.")
