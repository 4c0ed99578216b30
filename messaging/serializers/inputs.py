"""Request bodies. The services check length and form of texts (messaging/text.py)."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from core.fields import IdField, TextField, parse_id


class StartConversationInput(serializers.Serializer):
    user_id = IdField()


class SendMessageInput(serializers.Serializer):
    body = TextField(allow_blank=True, help_text="1 to 4096 characters after trimming.")
    reply_to_id = IdField(required=False, allow_null=True)
    client_id = TextField(
        required=False, allow_null=True, allow_blank=True, help_text="[A-Za-z0-9_-]{1,64}; makes a repeat safe."
    )


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
    client_id = TextField(required=False, allow_blank=True)


class EditMessageInput(serializers.Serializer):
    body = TextField(allow_blank=True, allow_null=True, help_text="null or empty only for the text of an image.")


class UpToMessageInput(serializers.Serializer):
    message_id = IdField(required=False, allow_null=True, help_text="Default: the newest message.")


class ReactionInput(serializers.Serializer):
    emoji = TextField(allow_blank=True)


class ReportInput(serializers.Serializer):
    reason = TextField(help_text="At most 100 characters.")
    comment = TextField(required=False, allow_blank=True, allow_null=True)
