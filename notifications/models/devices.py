"""Push devices.

The columns are those of fcm-django's AbstractFCMDevice, so that its tools can be pointed at this table
(FCM_DJANGO_FCMDEVICE_MODEL); the class itself is not inherited, because its module imports firebase_admin,
which belongs to the delivery worker alone.
"""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.text import row_name


class DeviceQuerySet(models.QuerySet["Device"]):
    def active(self) -> Self:
        """Devices whose token the push service still accepts."""
        return self.filter(active=True)


class Device(models.Model):
    """A push token of one user on one device, bound to the session that registered it."""

    class Platform(models.TextChoices):
        ANDROID = "android", "Android"
        IOS = "ios", "iOS"
        WEB = "web", _("web")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="push_devices", verbose_name=_("user")
    )
    session = models.ForeignKey(
        "accounts.Session", models.CASCADE, related_name="push_devices", verbose_name=_("session")
    )
    # The token. It is never shown. The digest is unique instead, because an index entry has a size limit.
    registration_id = models.TextField()
    token_digest = models.CharField(max_length=64, unique=True)
    device_id = models.CharField(_("device id"), max_length=255, null=True, blank=True)
    type = models.CharField(_("platform"), max_length=10, choices=Platform.choices, default=Platform.ANDROID)
    name = models.CharField(max_length=255, null=True, blank=True)
    active = models.BooleanField(_("in use"), default=True)
    failures = models.PositiveSmallIntegerField(_("failures"), default=0)
    locale = models.CharField(_("language"), max_length=35, blank=True)
    app_version = models.CharField(_("app version"), max_length=50, blank=True)
    date_created = models.DateTimeField(_("created at"), default=timezone.now)
    last_seen_at = models.DateTimeField(_("last seen"), default=timezone.now)
    objects = DeviceQuerySet.as_manager()

    class Meta:
        verbose_name = _("push device")
        verbose_name_plural = _("push devices")
        permissions = [("send_test_push", _("Can send a test push"))]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "device_id"],
                condition=models.Q(device_id__isnull=False),
                name="device_once_per_user",
            )
        ]

    __str__ = row_name

    @property
    def masked_token(self) -> str:
        """Enough of the token to distinguish two."""
        return f"…{self.registration_id[-6:]}"
