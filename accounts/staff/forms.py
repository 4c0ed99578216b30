"""Forms of the staff's sign-in."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django_otp.models import Device
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import APIException

from accounts.models import User
from accounts.services import login
from accounts.staff import second_factor


class StaffLoginForm(AuthenticationForm):
    """E-mail and password under the lock-out of every sign-in, then a code from the app."""

    username = forms.EmailField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    code = forms.CharField(
        label=_("Code from your app"),
        required=False,
        max_length=32,
        help_text=_("Empty the first time, before you have set one up."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    device: Device | None = None

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if not cleaned.get("username") or not cleaned.get("password"):
            return cleaned
        try:
            user = login.check_password(email=cleaned["username"].strip().lower(), password=cleaned["password"])
        except APIException as error:
            raise ValidationError(str(error.detail)) from error
        if not user.is_staff or not user.is_active:
            raise ValidationError(_("The e-mail address or the password is wrong."))
        if second_factor.has_one(user):
            self.device = second_factor.matching_device(user, cleaned.get("code", ""))
            if self.device is None:
                raise ValidationError(_("The code is wrong or has been used."))
        self.user_cache = user
        return cleaned

    def get_user(self) -> User:
        return self.user_cache  # type: ignore[return-value]


class FirstCodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code from your app"),
        max_length=16,
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def __init__(self, device: TOTPDevice, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.device = device

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"].replace(" ", "")
        # The page shows the key itself: there is nothing to guess, and a typing mistake needs no wait.
        self.device.throttle_reset(commit=False)
        if not self.device.verify_token(code):
            raise ValidationError(_("The code is wrong. Is the clock of the phone right?"))
        return code
