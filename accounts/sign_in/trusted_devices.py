"""Trusted devices, which skip the second step and a lockout."""

from datetime import timedelta

from django.utils import timezone

from accounts.conf import conf
from accounts.models import Session, TrustedDevice, User
from accounts.sign_in import sessions
from accounts.tokens import new_opaque_token
from core.api.exceptions import NotFound
from core.database.transactions import unit_of_work


def remember_device(*, user: User, device_name: str = "") -> tuple[TrustedDevice, str]:
    """Adds a trusted device, inside the caller's unit of work; removes the oldest ones beyond the limit. Returns its token,
    too."""
    token, digest = new_opaque_token()
    now = timezone.now()
    device = TrustedDevice.objects.create(
        user=user,
        digest=digest,
        device_name=device_name,
        created_at=now,
        last_used_at=now,
        expires_at=now + timedelta(days=conf.TRUSTED_DEVICE_DAYS),
    )
    newest = user.trusted_devices.order_by("-created_at", "-id").values_list("id", flat=True)
    user.trusted_devices.exclude(id__in=list(newest[: conf.TRUSTED_DEVICES_MAX])).delete()
    return device, token


def remove_device(*, user: User, device_id: int | None) -> None:
    """Removes one trusted device and ends the sessions that it opened. NotFound for a device of another user."""
    with unit_of_work():
        # The account first, then its devices and sessions. Another order could deadlock.
        User.objects.lock(user.id)
        device = TrustedDevice.objects.live().select_for_update().filter(user=user, id=device_id).first()
        if device is None:
            raise NotFound
        sessions.revoke(Session.objects.not_ended().filter(trusted_device=device), reason="device_removed")
        device.delete()
