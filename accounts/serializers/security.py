"""Serializers of sign-up, sign-in, the second step, and what protects an account."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from accounts.models import Session, TrustedDevice, User
from accounts.serializers.users import NoticeReply, SignInReply
from core.serializers import (
    AddressField,
    CodeField,
    LanguageField,
    NameField,
    OkReply,
    PasswordField,
    StrictBooleanField,
    TextField,
)
from core.text import supported_language

# --- Sign-up, confirmation, password reset ---------------------------------------------------------


class NewPasswordField(PasswordField):
    """A password that is not short and not common; the services compare it with what its user is called."""

    default_validators = [validate_password]


class SignUpInput(serializers.Serializer):
    first_name = NameField()
    last_name = NameField()
    email = AddressField()
    password = NewPasswordField()
    language = LanguageField(default=supported_language)


class EmailInput(serializers.Serializer):
    email = AddressField()


class VerifyInput(EmailInput):
    code = CodeField()


class ResetPasswordInput(VerifyInput):
    new_password = NewPasswordField()


# --- Sign-in ---------------------------------------------------------------------------------------


class LoginInput(EmailInput):
    password = PasswordField()


class TwoStepRequiredReply(OkReply):
    """The reply with two-step verification on: the data for the second step."""

    two_step_required = serializers.BooleanField()
    two_step_token = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)


LoginResponse = PolymorphicProxySerializer(
    component_name="LoginResponse", serializers=[SignInReply, TwoStepRequiredReply], resource_type_field_name=None
)


class TokenReply(OkReply):
    token = serializers.CharField()


# --- The second step: at sign-in and as a setting --------------------------------------------------


class HintField(TextField):
    """At most 64 characters on one line; a blank text means no hint."""

    defaults = {"max_length": 64, "allow_blank": True, "allow_null": True, "required": False}

    def to_internal_value(self, data: Any) -> str:
        return " ".join(super().to_internal_value(data).split())


class TwoStepInput(serializers.Serializer):
    password = PasswordField(help_text="The second password, or the mailed 8-digit code.")
    remember = StrictBooleanField(required=False, default=False)


class RecoveryCodeInput(serializers.Serializer):
    recovery_code = TextField(max_length=256)


class TwoStepStatusReply(OkReply):
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
    password = NewPasswordField()
    hint = HintField()


class TwoStepChangeInput(serializers.Serializer):
    password = PasswordField(
        required=False, help_text="Not needed for 15 minutes after a sign-in with a recovery code."
    )
    new_password = NewPasswordField()
    hint = HintField()


class TwoStepDisableInput(serializers.Serializer):
    password = PasswordField()


class RecoveryCodesReply(OkReply):
    recovery_codes = serializers.ListField(child=serializers.CharField(), help_text="Shown once.")


class TwoStepReply(SignInReply):
    device_token = serializers.CharField(
        required=False, help_text="With remember, for callers that send no Origin; browsers get a cookie."
    )


class RecoverySignInReply(SignInReply):
    recovery_codes_left = serializers.IntegerField()


# --- Sessions and trusted devices ------------------------------------------------------------------


class SessionSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    ip = serializers.IPAddressField(allow_null=True)
    user_agent = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()

    @classmethod
    def render(cls, session: Session, *, current: Session) -> dict[str, Any]:
        name = session.device_name
        if session.kind == Session.Kind.ADMIN:  # marked, so that its owner recognises it
            name = " · ".join(filter(None, [str(Session.Kind.ADMIN.label), name]))
        return {
            "id": session.id,
            "device_name": name,
            "ip": session.ip,
            "user_agent": session.user_agent,
            "created_at": session.created_at,
            "last_used_at": session.last_used_at,
            "is_current": session.id == current.id,
        }


class SessionsReply(OkReply):
    sessions = SessionSerializer(many=True)


class SessionsEndedReply(OkReply):
    revoked = serializers.IntegerField(help_text="How many sessions ended.")


class TrustedDeviceSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()

    @classmethod
    def render(cls, device: TrustedDevice) -> dict[str, Any]:
        return {name: getattr(device, name) for name in cls().get_fields()}


class TrustedDevicesReply(OkReply):
    devices = TrustedDeviceSerializer(many=True)


# --- Password, address and deletion ----------------------------------------------------------------


class ChangePasswordInput(serializers.Serializer):
    current_password = PasswordField()
    new_password = NewPasswordField()


class PasswordChangedReply(NoticeReply):
    token = serializers.CharField()


class ChangeEmailInput(serializers.Serializer):
    email = AddressField()


class ChangeEmailVerifyInput(serializers.Serializer):
    code = CodeField()


class EmailUndoInput(serializers.Serializer):
    token = TextField(max_length=4096)


class ChoosePasswordInput(serializers.Serializer):
    """The form for a new password after an undone change of the address."""

    password_token = TextField(max_length=4096)
    new_password = NewPasswordField()


class AccountDeletionReply(NoticeReply):
    erase_after = serializers.DateTimeField()


class ChangeEmailReply(NoticeReply):
    email = serializers.EmailField()


# --- Challenges and action tokens ------------------------------------------------------------------


class ChallengeInput(serializers.Serializer):
    action = TextField(
        max_length=64,
        help_text="One of `change_password`, `change_email`, `two_step_enable`, `two_step_change`, `two_step_disable`,"
        " `recovery_codes`, `export_data`, `delete_account`. Dashes, capitals and the other order of words are accepted.",
    )


class ChallengeReply(OkReply):
    challenge_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")


class ActionVerifyInput(serializers.Serializer):
    challenge_token = TextField(max_length=4096)
    code = CodeField()


class ActionReply(OkReply):
    action_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")
