"""Push devices of a user: push tokens, each bound to the session that registered it."""

import hashlib
from collections.abc import Iterable

from django.contrib.auth import get_user_model
from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts.sign_in import sessions
from core.api.exceptions import ServiceUnavailable
from core.database.transactions import lock_in_order, unit_of_work
from notifications.conf import conf
from notifications.models import Device
from notifications.services import delivery

# How often a registration is retried when another one has taken its token.
TRIES = 4


def register(
    *,
    user_id: int,
    session_id: int,
    token: str,
    platform: str = Device.Platform.ANDROID,
    device_id: str | None = None,
    locale: str | None = None,
    app_version: str | None = None,
) -> Device:
    """Registers the token for this user and session.

    A token of another user moves to this one, and that user's pushes queued for it are dropped. A new token of a known
    `device_id` replaces the old one. A disabled token works again. Above 20 devices (DEVICES_PER_USER), the device not
    seen for the longest time is deleted. TokenRevoked when the session or the account has ended, AccountBlocked.
    """
    digest = token_digest(token)
    values = {
        "user_id": user_id,
        "session_id": session_id,
        "registration_id": token,
        "token_digest": digest,
        "device_id": device_id or None,
        "type": platform,
        "locale": locale or "",
        "app_version": app_version or "",
        "active": True,
        "failures": 0,
        "last_seen_at": timezone.now(),
    }
    for _ in range(TRIES):
        try:
            with unit_of_work():
                return _store(Device(**values))
        except (IntegrityError, Device.DoesNotExist):
            # Another user has registered or removed the same token meanwhile: read again.
            continue
    raise ServiceUnavailable(retry_after=1)


def _store(device: Device) -> Device:
    """Updates the device with this token, else the one of the same phone; else creates one."""
    user_id = device.user_id
    # One registration per user at a time, or two could exceed the limit together.
    get_user_model().objects.lock_active(user_id)
    sessions.lock_live(session_id=device.session_id)
    row = _own_or_moved(user_id, device.token_digest, device.device_id)
    if row is None:
        device.date_created = device.last_seen_at
        Device.objects.bulk_create([device], ignore_conflicts=True)
        row = Device.objects.select_for_update().get(token_digest=device.token_digest)
    if row.user_id != user_id:
        delivery.cancel(reason="token moved", device_ids=[row.id])
    device.id, device.date_created = row.id, row.date_created
    device.save(force_update=True)
    _keep_within_limit(user_id, device.id)
    return device


def remove(*, user_id: int, token: str) -> None:
    """Deletes the user's own token; an unknown token or another user's changes nothing."""
    _delete(Q(user_id=user_id, token_digest=token_digest(token)), "token removed")


def remove_of_sessions(*, session_ids: Iterable[int]) -> None:
    _delete(Q(session_id__in=list(session_ids)), "session ended")


def remove_all(*, user_id: int) -> None:
    _delete(Q(user_id=user_id), "account erased")


def token_digest(token: str) -> str:
    """The indexed SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def _own_or_moved(user_id: int, digest: str, device_id: str | None) -> Device | None:
    """The device with this token, else the one of the same phone. All devices of the user are locked in one order,
    because those beyond the limit are deleted next."""
    rows = list(Device.objects.select_for_update().filter(Q(token_digest=digest) | Q(user_id=user_id)).order_by("id"))
    by_token = next((row for row in rows if row.token_digest == digest), None)
    of_phone = next((row for row in rows if device_id and row.user_id == user_id and row.device_id == device_id), None)
    if by_token is not None and of_phone is not None and by_token.id != of_phone.id:
        delivery.cancel(reason="token replaced", device_ids=[of_phone.id], before_deletion=True)
        of_phone.delete()
    return by_token or of_phone


def _keep_within_limit(user_id: int, newest_id: int) -> None:
    others = Device.objects.filter(user_id=user_id).exclude(id=newest_id)
    extra = list(others.order_by("-last_seen_at", "-id").values_list("id", flat=True)[conf.DEVICES_PER_USER - 1 :])
    if extra:
        _delete(Q(id__in=extra), "too many devices")


def _delete(condition: Q, reason: str) -> None:
    with unit_of_work():
        ids = lock_in_order(Device.objects.filter(condition), no_key=False)
        if ids:
            delivery.cancel(reason=reason, device_ids=ids, before_deletion=True)
            Device.objects.filter(id__in=ids).delete()
