"""One-time codes of staff, by django-otp: an app's TOTP, and ten static codes for a lost phone."""

import base64
import io
import secrets

import qrcode
import qrcode.image.svg
from django.http import HttpRequest
from django_otp import DEVICE_ID_SESSION_KEY, devices_for_user, match_token
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import User

STATIC_CODES = 10


def has_one(user: User) -> bool:
    """The person has a confirmed device."""
    return any(True for _ in devices_for_user(user, confirmed=True))


def is_confirmed(request: HttpRequest) -> bool:
    """This admin session was opened with a code of a device that the person still has."""
    if not hasattr(request, "_second_factor"):
        persistent_id = request.session.get(DEVICE_ID_SESSION_KEY)
        device = Device.from_persistent_id(persistent_id) if persistent_id else None
        request._second_factor = bool(  # type: ignore[attr-defined]
            device and device.user_id == request.user.pk and device.confirmed
        )
    return request._second_factor  # type: ignore[attr-defined, no-any-return]


def matching_device(user: User, code: str) -> Device | None:
    """The device that gave this code; django-otp locks its row, so a code works once."""
    return match_token(user, code.replace(" ", ""))


def confirm(request: HttpRequest, device: Device) -> None:
    """Remembers in the admin session that the second step was taken."""
    request.session[DEVICE_ID_SESSION_KEY] = device.persistent_id
    request._second_factor = True  # type: ignore[attr-defined]


def pending_device(user: User) -> TOTPDevice:
    """The TOTP device that waits for its first code."""
    device, _ = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": "app"})
    return device


def activate(device: TOTPDevice) -> list[str]:
    """Puts the device to use and returns new static codes, shown once."""
    device.confirmed = True
    device.save(update_fields=["confirmed"])
    backup, _ = StaticDevice.objects.get_or_create(user=device.user, defaults={"name": "static codes"})
    backup.token_set.all().delete()
    codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(STATIC_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=backup, token=code) for code in codes)
    return codes


def remove(user: User) -> None:
    """Takes app and static codes away; admin sessions that they opened close with them."""
    for device in devices_for_user(user, confirmed=None):
        device.delete()


def secret(device: TOTPDevice) -> str:
    """The key to type where no camera is at hand."""
    return base64.b32encode(device.bin_key).decode()


def picture(device: TOTPDevice) -> str:
    """The key as a QR code, as a data: address for an `<img>`."""
    out = io.BytesIO()
    qrcode.make(device.config_url, image_factory=qrcode.image.svg.SvgPathImage).save(out)
    return "data:image/svg+xml;base64," + base64.b64encode(out.getvalue()).decode()
