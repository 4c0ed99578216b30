"""Trusted devices: they skip the second step, and nothing else."""

from datetime import timedelta

from django.utils import timezone

from accounts.conf import conf
from accounts.models import Session, TrustedDevice, User
from accounts.services import sessions
from accounts.tokens import new_opaque_token
from core.exceptions import NotFound
from core.transactions import unit_of_work


def remember(*, user: User, device_name: str = "") -> tuple[TrustedDevice, str]:
    """Adds a trusted device and returns its token; removes the oldest devices beyond the limit."""
    token, digest = new_opaque_token()
    now = timezone.now()
    with unit_of_work():
        device = TrustedDevice.objects.create(
            user=user,
            digest=digest,
            device_name=device_name[:200],
            created_at=now,
            last_used_at=now,
            expires_at=now + timedelta(days=conf.TRUSTED_DEVICE_DAYS),
        )
        newest = TrustedDevice.objects.filter(user=user).order_by("-created_at", "-id")
        newest_ids = list(newest.values_list("id", flat=True)[: conf.TRUSTED_DEVICES_MAX])
        TrustedDevice.objects.filter(user=user).exclude(id__in=newest_ids).delete()
    return device, token


def remove(*, user: User, device_id: int | None) -> None:
    """Removes one trusted device and ends the sessions that it opened. NotFound for a device of another user."""
    with unit_of_work():
        # The account first, then its devices and sessions: two that lock several of these would wait for each other.
        User.objects.lock(user.id)
        live = TrustedDevice.objects.live().select_for_update().filter(user=user)
        device = live.filter(id=device_id).first()
        if device is None:
            raise NotFound
        opened = Session.objects.not_ended().filter(trusted_device=device)
        sessions.revoke(opened, reason="device_removed")
        device.delete()
