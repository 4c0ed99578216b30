"""Serializers of the second step: at sign-in and as a setting."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.account import SignedInOutput
from core.fields import PasswordField, StrictBooleanField, TextField
from core.serializers import OkReply


class HintField(TextField):
    """At most 64 characters on one line; a blank text means no hint."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=64, allow_blank=True, allow_null=True, required=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        return " ".join(super().to_internal_value(data).split())


class TwoStepInput(serializers.Serializer):
    password = PasswordField(help_text="The second password, or the mailed 8-digit code.")
    remember = StrictBooleanField(required=False, default=False)


class RecoveryInput(serializers.Serializer):
    recovery_code = TextField(max_length=256)


class TwoStepStatusOutput(OkReply):
    enabled = serializers.BooleanField()
    hint = serializers.CharField(allow_blank=True)
    recovery_codes_left = serializers.IntegerField()
    updated_at = serializers.DateTimeField(allow_null=True)

    @classmethod
    def render(cls, user: User, *, codes_left: int) -> dict[str, Any]:
        return {
            "enabled": user.two_step_enabled,
            "hint": user.second_password_hint,
            "recovery_codes_left": codes_left,
            "updated_at": user.second_password_changed_at,
        }


class TwoStepEnableInput(serializers.Serializer):
    password = PasswordField()
    hint = HintField()


class TwoStepChangeInput(serializers.Serializer):
    password = PasswordField(
        required=False, help_text="Not needed for 15 minutes after a sign-in with a recovery code."
    )
    new_password = PasswordField()
    hint = HintField()


class TwoStepDisableInput(serializers.Serializer):
    password = PasswordField()


class RecoveryCodesOutput(OkReply):
    recovery_codes = serializers.ListField(child=serializers.CharField(), help_text="Shown once.")


class SecondStepOutput(SignedInOutput):
    device_token = serializers.CharField(
        required=False, help_text="With remember, for callers that send no Origin; browsers get a cookie."
    )


class RecoveredOutput(SignedInOutput):
    recovery_codes_left = serializers.IntegerField()
