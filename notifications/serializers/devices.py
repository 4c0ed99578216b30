"""Push tokens. They come in and never go out."""

import re
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from core.fields import TextField
from core.serializers import OkReply
from notifications.models import Device

MAX_TOKEN_LENGTH = 4096


class _TokenField(serializers.CharField):
    """An opaque token exactly as sent: printable ASCII, as FCM's are."""

    default_error_messages = {"not_a_token": _("This push token is not valid.")}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, max_length=MAX_TOKEN_LENGTH, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        token = super().to_internal_value(data)
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            self.fail("not_a_token")
        return str(token)


class _PlatformField(TextField):
    default_error_messages = {"unknown": _("This must be android, ios or web.")}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in Device.Platform.values:
            self.fail("unknown")
        return name


class _LocaleField(TextField):
    """A language tag, as the device names it."""

    default_error_messages = {"not_a_language": _("This is not a valid language code.")}

    def to_internal_value(self, data: Any) -> str:
        locale = super().to_internal_value(data)
        if locale and not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*", locale):
            self.fail("not_a_language")
        return locale


class PushTokenInput(serializers.Serializer):
    token = _TokenField()
    platform = _PlatformField(default=Device.Platform.ANDROID)
    device_id = TextField(max_length=255, allow_null=True, allow_blank=True, default=None)
    locale = _LocaleField(max_length=35, allow_null=True, allow_blank=True, default="")
    app_version = TextField(max_length=50, allow_null=True, allow_blank=True, default="")


class PushTokenRemoval(serializers.Serializer):
    token = _TokenField()


class TestPushOutput(OkReply):
    devices = serializers.IntegerField(help_text="How many devices of the caller the push is on its way to.")
