"""The sign-in of the admin: second factors with django-otp (a TOTP device, and ten static codes for a lost phone), and its forms."""

import base64
import io
import re
import secrets
from typing import Any, cast

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_otp import devices_for_user, match_token, user_has_device
from django_otp.models import Device
from django_otp.plugins.otp_static.lib import add_static_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import APIException

from accounts import emails
from accounts.conf import PASSWORD_LENGTH, conf
from accounts.exceptions import AccountLocked, InvalidCredentials
from accounts.models import RateCount, User
from accounts.services import audit
from accounts.sign_in import networks, second_step, sessions, stages
from accounts.tokens import keyed_digest
from core.addresses import normalise_address
from core.api import ratelimits
from core.api.exceptions import RateLimited
from core.characters import read_code, read_printed_code
from core.database.transactions import unit_of_work
from core.network import client_address, network_of_request

STATIC_CODES = 10
_STATIC_CODE = re.compile("[a-z2-7]+")  # base 32, as `activate` and django-otp write them
# Keys in the admin session while a second factor is added.
_PENDING = "second_factor_pending"
_SECOND_PASSWORD = "second_factor_second_password"


def second_password_was_entered(request: HttpRequest) -> bool:
    """The second password was entered in this session and has not changed since."""
    return request.session.get(_SECOND_PASSWORD) == _changed_at(request)


def record_second_password(request: HttpRequest) -> None:
    request.session[_SECOND_PASSWORD] = _changed_at(request)


def _changed_at(request: HttpRequest) -> str:
    return str(cast(User, request.user).second_password_changed_at)


def pending_device(request: HttpRequest) -> TOTPDevice:
    """The TOTP device that waits for its first code, with a key that only this admin session was shown.

    A key that an earlier session has seen is never activated.
    """
    waiting = TOTPDevice.objects.filter(user=request.user, confirmed=False)
    device = waiting.filter(id=request.session.get(_PENDING, 0)).first()
    if device is None:
        waiting.delete()
        device = TOTPDevice.objects.create(user=request.user, confirmed=False, name="app")
        request.session[_PENDING] = device.pk
    return device


def activate(device: TOTPDevice) -> list[str]:
    """Activates the device and returns new static codes, shown once; the owner is notified by mail.

    PermissionDenied when another device was activated in the meantime.
    """
    with unit_of_work():
        user = User.objects.lock(device.user_id)
        if user_has_device(user):
            raise PermissionDenied
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        backup, _ = StaticDevice.objects.get_or_create(user=user, defaults={"name": "static codes"})
        backup.token_set.all().delete()
        codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(STATIC_CODES)]
        StaticToken.objects.bulk_create(StaticToken(device=backup, token=code) for code in codes)
        audit.record(action="admin.second_factor_added", actor=user, target=user)
        emails.send_to(user, "staff_factor_added", address=client_address() or "?")
    return codes


def add_static_code(*, user: User, reason: str, actor: str) -> str:
    """Adds one static code to those of a staff member, for one who has lost the phone."""
    with unit_of_work():
        account = User.objects.lock(user.pk)
        added: str = add_static_token(account.email).token
        audit.record(action="admin.second_factor_added", actor=actor, target=account, reason=reason)
    return added


def remove_second_factor(*, user: User, reason: str, actor: User) -> None:
    """Removes TOTP device and static codes and ends the sessions that they opened; notifies the owner by mail."""
    with unit_of_work():
        # The account first, then its sessions.
        User.objects.lock(user.pk)
        for device in devices_for_user(user, confirmed=None):
            device.delete()
        sessions.end_in_admin(user_id=user.pk, reason="second_factor_removed")
        audit.record(action="admin.second_factor_removed", actor=actor, target=user, reason=reason)
        emails.send_to(user, "staff_factor_removed")


def secret(device: TOTPDevice) -> str:
    """The key, to be typed instead of scanned."""
    return base64.b32encode(device.bin_key).decode()


def picture(device: TOTPDevice) -> str:
    """The key as a QR code, as a data: address for an `<img>`."""
    import qrcode.image.svg  # loaded with the first QR code, not by every process

    out = io.BytesIO()
    qrcode.make(device.config_url, image_factory=qrcode.image.svg.SvgPathImage).save(out)
    return "data:image/svg+xml;base64," + base64.b64encode(out.getvalue()).decode()


def _read_factor(typed: str) -> str:
    """The digits of an app's code, or a static code as it is stored; a static code that staff chose is kept as typed."""
    static = read_printed_code(typed).lower()
    return read_code(typed) or (static if _STATIC_CODE.fullmatch(static) else typed.strip())


def checked_code(user: User, typed: str, network: str) -> Device | None:
    """The device that accepts the code of a user who has given the right password; None for a wrong code. AccountLocked
    when the tries are used up.

    A try is counted before anything is compared: ten an hour for a network, and a hundred a day for all together that
    the account does not know, so that an attacker who knows the password cannot keep its owner out. An empty code is
    not a try: staff without an app send the form without one.
    """
    code = _read_factor(typed)
    if not code:
        return None
    key = keyed_digest("rate", "staff_code", str(user.pk), network)
    tries, left = RateCount.objects.count_use(key=key, seconds=3600)
    if tries > conf.STAFF_CODE_TRIES:
        raise AccountLocked(retry_after=left)
    today = timezone.now().date()
    own = User.objects.filter(id=user.pk)
    own.exclude(wrong_staff_codes_day=today).update(wrong_staff_codes=0, wrong_staff_codes_day=today)
    allowed = own
    if not networks.knows_network(user, network):
        allowed = own.filter(wrong_staff_codes__lt=conf.WRONG_STAFF_CODES_A_DAY)
    if not allowed.update(wrong_staff_codes=F("wrong_staff_codes") + 1):
        raise AccountLocked(retry_after=second_step.seconds_to_midnight(timezone.now()))
    # django-otp locks the row of the device, so a code works once.
    device: Device | None = match_token(user, code)
    if device is not None:
        own.filter(wrong_staff_codes__gt=0).update(wrong_staff_codes=F("wrong_staff_codes") - 1)
        return device
    with unit_of_work():
        wrong = own.values_list("wrong_staff_codes", flat=True).get()
        audit.record(action="admin.code_refused", target=user, codes=wrong)
        # The first ones are recorded each, then every tenth.
        if conf.WRONG_SECOND_PASSWORDS_MAILED <= wrong <= conf.STAFF_CODE_TRIES or wrong % conf.STAFF_CODE_TRIES == 0:
            emails.send_to(user, "staff_code_wrong", address=client_address() or "?")
    return None


class StaffLoginForm(AuthenticationForm):
    """E-mail and password with the login lockout of the API, then a TOTP code."""

    # Validated as the API does it; Django's field would refuse a mailbox with letters beyond ASCII.
    username = forms.CharField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    code = forms.CharField(
        label=_("Code from your app"),
        required=False,
        max_length=64,
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
            if isinstance(error, RateLimited | AccountLocked):
                self.retry_after = error.retry_after
            raise ValidationError(str(error.detail)) from error
        if not user.is_staff or not user.is_active:
            raise ValidationError(_("The e-mail address or the password is wrong."))
        if user_has_device(user):
            try:
                self.device = checked_code(
                    user, cleaned.get("code", ""), network_of_request(cast(HttpRequest, self.request))
                )
            except AccountLocked as error:
                self.retry_after = error.retry_after
                raise ValidationError(str(error.detail)) from error
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
        return stages.check_password(email=email, password=password, network=network)


class SecondPasswordForm(forms.Form):
    """The second password of the account, under the same count of wrong ones as at every sign-in."""

    second_password = forms.CharField(
        label=_("Second password"),
        max_length=PASSWORD_LENGTH,
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
            second_step.guess(user=self.user, password=typed)
        except APIException as error:
            raise ValidationError(str(error.detail)) from error
        return typed


class FirstCodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code from your app"),
        max_length=64,
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def __init__(self, device: TOTPDevice, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.device = device

    def clean_code(self) -> str:
        code = _read_factor(self.cleaned_data["code"])
        # The page shows the key itself, so there is nothing to guess and wrong codes need no lockout.
        if not self.device.verify_token(code):
            raise ValidationError(_("The code is wrong. Check that the clock of your phone is right."))
        return code
