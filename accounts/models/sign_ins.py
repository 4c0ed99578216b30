"""Sessions, trusted devices, which skip the second step, and login lockouts of networks and of unknown addresses."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.people import PasswordLock, User
from accounts.tokens import opaque_digest
from core.text import row_name


class TrustedDeviceQuerySet(models.QuerySet["TrustedDevice"]):
    def live(self, now: datetime | None = None) -> Self:
        """Devices that may skip the second step at `now`."""
        return self.filter(expires_at__gt=now or timezone.now())

    def of(self, user: User, token: str) -> TrustedDevice | None:
        """The live device of this user behind `token`; None without one."""
        return self.live().filter(user=user, digest=opaque_digest(token)).first() if token else None


class SessionQuerySet(models.QuerySet["Session"]):
    def not_ended(self) -> Self:
        """Sessions that were not ended; their time may be over."""
        return self.filter(ended_at=None)

    def live(self, now: datetime | None = None) -> Self:
        """Sessions that accept a token at `now`; the token has an expiry of its own."""
        return self.not_ended().filter(expires_at__gt=now or timezone.now())

    def signed_in(self, now: datetime | None = None) -> Self:
        """Live sessions whose newest token has not expired: those that a user sees in the list."""
        now = now or timezone.now()
        return self.live(now).filter(token_expires_at__gt=now)


class TrustedDevice(models.Model):
    """A device that may skip the second step; its token is stored hashed."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="trusted_devices", verbose_name=_("user")
    )
    digest = models.CharField(max_length=64, unique=True)
    device_name = models.CharField(_("device"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    last_used_at = models.DateTimeField(_("last used at"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires at"))
    objects = TrustedDeviceQuerySet.as_manager()

    class Meta:
        verbose_name = _("trusted device")
        verbose_name_plural = _("trusted devices")

    __str__ = row_name


class Session(models.Model):
    """A signed-in session. Every request reads its row with the user, so ending the session ends the token."""

    class Kind(models.TextChoices):
        API = "api", _("app or website")
        ADMIN = "admin", _("support pages")

    # A session of the admin has no token: the admin's cookie names its row.
    kind = models.CharField(_("where"), max_length=10, choices=Kind.choices, default=Kind.API)
    sid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="sessions", verbose_name=_("user"), db_index=False
    )
    trusted_device = models.ForeignKey(TrustedDevice, models.SET_NULL, null=True, blank=True)
    generation = models.PositiveIntegerField(default=1)
    # Tokens of earlier generations were issued before a credential changed: they are refused, without a grace period.
    oldest_generation = models.PositiveIntegerField(default=1)
    # When the newest generation was first used: from then on the one before it has a minute left.
    generation_used_at = models.DateTimeField(null=True, blank=True)
    device_name = models.CharField(_("device"), max_length=200, blank=True)
    ip = models.GenericIPAddressField(_("IP address"), null=True, blank=True)
    user_agent = models.CharField(_("browser or app"), max_length=400, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    last_used_at = models.DateTimeField(_("last used at"), default=timezone.now)
    token_expires_at = models.DateTimeField(_("token expires at"))
    expires_at = models.DateTimeField(_("expires at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ended_reason = models.CharField(_("why it ended"), max_length=40, blank=True)
    # After a recovery code: until then a new second password needs no old one.
    second_password_free_until = models.DateTimeField(null=True, blank=True)
    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes = [
            models.Index(fields=["user", "-last_used_at"], name="session_user_recent"),
            models.Index(fields=["token_expires_at"], name="session_expiry"),
        ]

    __str__ = row_name

    def is_live(self, now: datetime) -> bool:
        """SessionQuerySet.live for a row that was read."""
        return self.ended_at is None and self.expires_at > now

    def accepts(self, generation: int, now: datetime) -> bool:
        """Whether the session lives and no credential has changed since a token of this generation was issued."""
        return self.is_live(now) and generation >= self.oldest_generation


class UnknownAddress(PasswordLock):
    """The login lockout of an address without an account: sign-in replies the same as for an account."""

    key = models.CharField(max_length=64, unique=True, help_text=_("keyed digest of the address"))
    touched_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("unknown address")


class NetworkLock(PasswordLock):
    """Wrong passwords from one known network of the account; other networks are counted on the account."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="network_locks", db_index=False)
    network = models.CharField(max_length=45)

    class Meta:
        verbose_name = _("login lockout of a known network")
        constraints = [models.UniqueConstraint(fields=["user", "network"], name="networklock_once")]
