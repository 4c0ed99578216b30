"""Trusted devices: they skip the second step, and nothing else."""

from datetime import timedelta

from django.utils import timezone

from accounts.conf import conf
from accounts.exceptions import NotFound
from accounts.models import Session, TrustedDevice, User
from accounts.services import sessions
from accounts.tokens import new_opaque_token, opaque_digest
from accounts.unit_of_work import unit_of_work


def remember(*, user: User, device_name: str = "") -> tuple[TrustedDevice, str]:
    """A new trusted device and its token, for a fixed number of days; the oldest ones make room."""
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
        kept = list(newest.values_list("id", flat=True)[: conf.TRUSTED_DEVICES_MAX])
        TrustedDevice.objects.filter(user=user).exclude(id__in=kept).delete()
    return device, token


def recognise(*, user: User, token: str) -> TrustedDevice | None:
    """The live trusted device of this very person behind `token`. Login asks before the password is
    checked (a trusted device is not locked out), so this notes no use."""
    if not token:
        return None
    return TrustedDevice.objects.filter(user=user, digest=opaque_digest(token), expires_at__gt=timezone.now()).first()


def note_use(device: TrustedDevice) -> None:
    """The device has just skipped a second step."""
    TrustedDevice.objects.filter(id=device.id).update(last_used_at=timezone.now())


def remove(*, user: User, device_id: int | None) -> None:
    """Ends the trust in one device and the sessions that it opened. NotFound for another's."""
    with unit_of_work():
        live = TrustedDevice.objects.select_for_update().filter(user=user, expires_at__gt=timezone.now())
        device = live.filter(id=device_id).first() if device_id is not None else None
        if device is None:
            raise NotFound
        opened = Session.objects.filter(trusted_device=device, ended_at=None)
        sessions.revoke(opened, reason="device_removed")
        device.delete()


def forget_all(*, user_id: int) -> None:
    """No device of this person skips the second step any more; sessions are the caller's matter."""
    TrustedDevice.objects.filter(user_id=user_id).delete()
