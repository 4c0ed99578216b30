"""Serializers of sign-up, sign-in, the second step and credentials."""

from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from accounts.conf import HINT_LENGTH, conf
from accounts.fields import AddressField, CodeField, LanguageField, NameField, PasswordField
from accounts.models import Action, Session, User
from accounts.serializers.users import NoticeReply, SignInReply, TokenReply
from core.api.open_values import OpenValues
from core.api.serializers import OkReply, OptionalTextField, StrictBooleanField, TextField
from core.api.shapes import Shape
from core.languages import supported_language

# Why a session has ended, as the team's own server hears it.
SESSION_END_REASONS = OpenValues(
    "SessionEndReason",
    {
        "logout": "The user signed out.",
        "revoked": "The user ended it from another device.",
        "device_removed": "The user removed its trusted device.",
        "password_changed": "The user changed the password on another device.",
        "password_reset": "The password was reset by mail.",
        "email_change_undone": "A change of the address was undone.",
        "confirmed": "It had begun before the address was confirmed.",
        "contested": "Someone else signed up with the address before it was confirmed.",
        "reuse": "An old token was used again, as after a theft.",
        "server_key_revoked": "The server key that had opened it was revoked.",
        "blocked": "Staff or your server blocked the account.",
        "staff": "Staff ended it.",
        "account_deleted": "The user asked for the deletion of the account.",
        "account_erased": "The account was erased.",
    },
)

# --- Sign-up, confirmation, password reset ---------------------------------------------------------


_validators: list[dict[str, Any]] = settings.AUTH_PASSWORD_VALIDATORS  # type: ignore[assignment]
# 0 in a project without such a validator.
LEAST_PASSWORD_LENGTH: int = max((row.get("OPTIONS", {}).get("min_length", 0) for row in _validators), default=0)


class NewPasswordField(PasswordField):
    """A password that is neither short nor common. The services compare it with the names of its user."""

    default_validators = [validate_password]
    defaults = {**PasswordField.defaults, "limits": {"minLength": LEAST_PASSWORD_LENGTH}}


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


# --- The second step: at sign-in and as a setting --------------------------------------------------


class HintField(OptionalTextField):
    """One line. A text without a visible character means that there is no hint."""

    defaults = {**OptionalTextField.defaults, "max_length": HINT_LENGTH}

    def to_internal_value(self, data: Any) -> str:
        return " ".join(super().to_internal_value(data).split())


class TwoStepInput(serializers.Serializer):
    password = PasswordField(help_text=f"The second password, or the mailed {conf.MAILED_STEP_DIGITS}-digit code.")
    remember = StrictBooleanField(required=False, default=False)


class RecoveryCodeInput(serializers.Serializer):
    recovery_code = TextField(max_length=256)


class TwoStepStatusReply(OkReply, Shape):
    enabled = serializers.BooleanField(source="two_step_enabled")
    hint = serializers.CharField(source="second_password_hint", allow_blank=True)
    recovery_codes_left = serializers.IntegerField()
    updated_at = serializers.DateTimeField(source="second_password_changed_at", allow_null=True)

    @classmethod
    def render(cls, user: User, *, codes_left: int) -> dict[str, Any]:
        return cls.build(user, recovery_codes_left=codes_left)


class TwoStepEnableInput(serializers.Serializer):
    password = NewPasswordField()
    hint = HintField()


class TwoStepChangeInput(serializers.Serializer):
    password = PasswordField(
        required=False,
        help_text=f"Not needed for {conf.SECOND_PASSWORD_FREE_MINUTES} minutes after a sign-in with a recovery code.",
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


class SessionSerializer(Shape):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    ip = serializers.IPAddressField(allow_null=True)
    user_agent = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()
    opened_by = serializers.CharField(
        allow_null=True, help_text="The name of the server key that opened it without a password."
    )

    @classmethod
    def render(cls, session: Session, *, current: Session) -> dict[str, Any]:
        name = session.device_name
        if session.kind == Session.Kind.ADMIN:  # marked, so that its owner recognises it
            name = " · ".join(filter(None, [str(Session.Kind.ADMIN.label), name]))
        return cls.build(
            session, device_name=name, is_current=session.id == current.id, opened_by=session.opened_by or None
        )


class SessionsReply(OkReply):
    sessions = SessionSerializer(many=True)


class SessionsEndedReply(OkReply):
    revoked = serializers.IntegerField(help_text="How many sessions ended.")


class TrustedDeviceSerializer(Shape):
    id = serializers.IntegerField()
    device_name = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class TrustedDevicesReply(OkReply):
    devices = TrustedDeviceSerializer(many=True)


class SecurityChangeSerializer(Shape):
    type = serializers.CharField(
        help_text="`password_changed`, `email_changed`, `email_change_undone`, `two_step_set`, `two_step_disabled`,"
        " `recovery_codes_made`; ignore others."
    )
    created_at = serializers.DateTimeField()


class SecurityChangesReply(OkReply):
    changes = SecurityChangeSerializer(many=True)


# --- Password, address and deletion ----------------------------------------------------------------


class ChangePasswordInput(serializers.Serializer):
    current_password = PasswordField()
    new_password = NewPasswordField()


class PasswordChangedReply(TokenReply):
    message = serializers.CharField()


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


CHECKED_BEFORE = "Of the action, which needs it again: what is wrong with it is told before a code is mailed."


class ChallengeInput(serializers.Serializer):
    action = TextField(
        max_length=64,
        limits={"enum": [action.value for action in Action]},
        help_text=f"One of {', '.join(f'`{action}`' for action in Action)}. Dashes, capitals and the other order of words"
        " are accepted.",
    )
    # What the action will be asked with.
    current_password = PasswordField(required=False, help_text=CHECKED_BEFORE)
    password = PasswordField(required=False, help_text=CHECKED_BEFORE)
    new_password = PasswordField(required=False, help_text=CHECKED_BEFORE)
    hint = HintField(help_text=CHECKED_BEFORE)
    email = AddressField(required=False, help_text=CHECKED_BEFORE)


class ChallengeReply(OkReply):
    challenge_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")


class ActionVerifyInput(serializers.Serializer):
    challenge_token = TextField(max_length=4096)
    code = CodeField()


class ActionReply(OkReply):
    action_token = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")
