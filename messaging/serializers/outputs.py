"""Replies, for the OpenAPI document. The selectors build the data; tests compare the two."""

from rest_framework import serializers

from accounts.serializers.people import PersonSerializer


class OkOutput(serializers.Serializer):
    ok = serializers.BooleanField()


class LastMessageOutput(serializers.Serializer):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["text", "image", "call"])
    body = serializers.CharField(allow_blank=True)
    sender_id = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class ConversationOutput(serializers.Serializer):
    id = serializers.IntegerField()
    other_user = PersonSerializer()
    last_message = LastMessageOutput(allow_null=True)
    unread_count = serializers.IntegerField()
    last_read_id = serializers.IntegerField(help_text="0: nothing yet.")
    other_last_read_id = serializers.IntegerField(
        allow_null=True, help_text="null when either side hides receipts or has blocked the other."
    )
    other_delivered_id = serializers.IntegerField(allow_null=True)
    is_blocked = serializers.BooleanField(help_text="One of the two has blocked the other.")


class MediaOutput(serializers.Serializer):
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    mime = serializers.CharField()
    size = serializers.IntegerField()
    thumb_url = serializers.CharField()
    blurhash = serializers.CharField()


class ReplyPreviewOutput(serializers.Serializer):
    id = serializers.IntegerField()
    sender_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["text", "image", "call"])
    body = serializers.CharField(allow_null=True, help_text="At most 200 characters.")
    media_url = serializers.CharField(allow_null=True)
    thumb_url = serializers.CharField(allow_null=True)


class ReactionOutput(serializers.Serializer):
    emoji = serializers.CharField()
    count = serializers.IntegerField()
    user_ids = serializers.ListField(child=serializers.IntegerField())


class CallLineOutput(serializers.Serializer):
    id = serializers.IntegerField()
    media = serializers.ChoiceField(choices=["audio", "video"])
    outcome = serializers.CharField()
    duration_s = serializers.IntegerField(allow_null=True)


class MessageOutput(serializers.Serializer):
    id = serializers.IntegerField()
    conversation_id = serializers.IntegerField()
    sender_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["text", "image", "call"])
    body = serializers.CharField(allow_null=True)
    media_url = serializers.CharField(allow_null=True)
    media = MediaOutput(allow_null=True)
    reply_to_id = serializers.IntegerField(allow_null=True)
    reply_to = ReplyPreviewOutput(allow_null=True)
    is_edited = serializers.BooleanField()
    edited_at = serializers.DateTimeField(allow_null=True)
    reactions = ReactionOutput(many=True)
    call = CallLineOutput(allow_null=True)
    client_id = serializers.CharField(allow_null=True, help_text="Only its sender sees it.")
    created_at = serializers.DateTimeField()


class PeopleReply(OkOutput):
    users = PersonSerializer(many=True)


class ConversationsReply(OkOutput):
    conversations = ConversationOutput(many=True)
    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)


class ConversationReply(OkOutput):
    conversation = ConversationOutput()


class MessagesReply(OkOutput):
    messages = MessageOutput(many=True)
    has_more = serializers.BooleanField()


class SearchReply(MessagesReply):
    next_before = serializers.IntegerField(
        allow_null=True, help_text="`before` of the next page; may lie below the last message found."
    )


class MessageReply(OkOutput):
    message = MessageOutput()


class DeletedReply(OkOutput):
    message_id = serializers.IntegerField()


class ReadReply(OkOutput):
    last_read_id = serializers.IntegerField()
    unread_count = serializers.IntegerField()
    message_unread_count = serializers.IntegerField()


class ClearedReply(OkOutput):
    cleared_up_to_id = serializers.IntegerField()


class ReactionsReply(OkOutput):
    reactions = ReactionOutput(many=True)


class ReportReply(OkOutput):
    report_id = serializers.IntegerField()
