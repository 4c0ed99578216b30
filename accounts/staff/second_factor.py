"""Second factors of staff with django-otp: a TOTP device, and ten static codes for a lost phone."""

import base64
import io
import secrets
from typing import cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django_otp import devices_for_user, match_token
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts import emails
from accounts.models import User
from accounts.services import audit, sessions
from core import request_context
from core.transactions import unit_of_work

STATIC_CODES = 10
# Keys in the admin session while a second factor is added.
_PENDING = "second_factor_pending"
_SECOND_PASSWORD = "second_factor_second_password"


def has_device(user: User) -> bool:
    return any(True for _ in devices_for_user(user, confirmed=True))


def matching_device(user: User, code: str) -> Device | None:
    """The device that gave this code; django-otp locks its row, so a code works once."""
    return match_token(user, code.replace(" ", ""))


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
        if has_device(user):
            raise PermissionDenied
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        backup, _ = StaticDevice.objects.get_or_create(user=user, defaults={"name": "static codes"})
        backup.token_set.all().delete()
        codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(STATIC_CODES)]
        StaticToken.objects.bulk_create(StaticToken(device=backup, token=code) for code in codes)
        audit.record(action="admin.second_factor_added", actor=user, target=user)
        emails.send_to(user, "staff_factor_added", address=request_context.client_address() or "?")
    return codes


def remove(*, user: User, reason: str, actor: User) -> None:
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
