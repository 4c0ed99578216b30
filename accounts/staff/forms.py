"""Forms of the admin sign-in."""

from typing import Any, cast

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.models import Device
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import APIException

from accounts.exceptions import InvalidCredentials
from accounts.models import User
from accounts.services import login, second_password
from accounts.staff import second_factor
from core import ratelimits
from core.exceptions import RateLimited
from core.request_context import network_of_request
from core.text import normalise_address


class StaffLoginForm(AuthenticationForm):
    """E-mail and password with the login lockout of the API, then a TOTP code."""

    username = forms.EmailField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    code = forms.CharField(
        label=_("Code from your app"),
        required=False,
        max_length=32,
        help_text=_("Leave blank if you have not set up an authenticator app yet."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    device: Device | None = None
    # The seconds to wait when too many sign-ins were tried.
    retry_after: int | None = None

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if not cleaned.get("username") or not cleaned.get("password"):
            return cleaned
        try:
            user = self._checked_user(cleaned["username"], cleaned["password"])
        except APIException as error:
            if isinstance(error, RateLimited):
                self.retry_after = error.retry_after
            raise ValidationError(str(error.detail)) from error
        if not user.is_staff or not user.is_active:
            raise ValidationError(_("The e-mail address or the password is wrong."))
        if second_factor.has_device(user):
            self.device = second_factor.matching_device(user, cleaned.get("code", ""))
            if self.device is None:
                raise ValidationError(_("The code is wrong or has been used."))
        self.user_cache = user
        return cleaned

    def _checked_user(self, typed: str, password: str) -> User:
        """The account of the right password, under the rates of the API's sign-in: the same counters."""
        network = network_of_request(cast(HttpRequest, self.request))
        ratelimits.check("login_network", network)
        try:
            email = normalise_address(typed)
        except ValueError as error:
            raise InvalidCredentials from error
        ratelimits.check("login", f"{network} {email}")
        return login.check_password(email=email, password=password, network=network)

    def get_user(self) -> User:
        return cast(User, self.user_cache)


class SecondPasswordForm(forms.Form):
    """The second password of the account, under the same count of wrong ones as at every sign-in."""

    second_password = forms.CharField(
        label=_("Second password"),
        max_length=256,
        strip=False,
        help_text=_("Your account has two-step verification. Complete it before you add an app."),
        widget=forms.PasswordInput(attrs={"autofocus": True, "autocomplete": "current-password"}),
    )

    def __init__(self, user: User, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.user = user

    def clean_second_password(self) -> str:
        typed: str = self.cleaned_data["second_password"]
        try:
            second_password.guess(user=self.user, password=typed)
        except APIException as error:
            raise ValidationError(str(error.detail)) from error
        return typed


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
        # The page shows the key itself, so there is nothing to guess and wrong codes need no lockout.
        self.device.throttle_reset(commit=False)
        if not self.device.verify_token(code):
            raise ValidationError(_("The code is wrong. Check that the clock of your phone is right."))
        return code
