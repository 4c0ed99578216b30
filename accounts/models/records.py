"""Images, rate counters and the audit log."""

from datetime import UTC, datetime
from typing import cast

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.conf import REASON_LENGTH
from core.addresses import MAX_ADDRESS
from core.database.statements import as_parameter, row
from core.text import row_name


class Image(models.Model):
    """A re-encoded image: an avatar, or the image of a message. Its token is its path."""

    class Kind(models.TextChoices):
        AVATAR = "avatar"
        MESSAGE = "message"

    token = models.CharField(max_length=32, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    mime = models.CharField(max_length=20)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField(help_text=_("bytes"))
    blurhash = models.CharField(max_length=100)
    upload_digest = models.CharField(max_length=64, help_text=_("SHA-256 of the uploaded bytes"))
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("picture")


class StorageUse(models.Model):
    """The bytes of a user's originals in all, and of those stored on the day of the last upload."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    total_bytes = models.BigIntegerField(default=0)
    # In UTC.
    day = models.DateField()
    day_bytes = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("storage of a user")


class RateCountManager(models.Manager["RateCount"]):
    def count_use(self, *, key: str, seconds: int) -> tuple[int, int]:
        """Counts one use in the current window. Returns the count and the seconds left in the window."""
        now = int(timezone.now().timestamp())
        elapsed = now % seconds
        starts_at = datetime.fromtimestamp(now - elapsed, tz=UTC)
        table = self.model._meta.db_table
        counted = row(
            f"INSERT INTO {table} (key, window_starts_at, count) VALUES (%s, %s, 1) "
            f"ON CONFLICT (key, window_starts_at) DO UPDATE SET count = {table}.count + 1 RETURNING count",
            [key, as_parameter(starts_at)],
        )
        return cast(tuple[int], counted)[0], seconds - elapsed


class RateCount(models.Model):
    """A rate counter in the database, used while the cache is unavailable."""

    key = models.CharField(max_length=64)
    window_starts_at = models.DateTimeField(db_index=True)
    count = models.PositiveIntegerField(default=0)
    objects = RateCountManager()

    class Meta:
        verbose_name = _("rate counter")
        constraints = [models.UniqueConstraint(fields=["key", "window_starts_at"], name="ratecount_window")]


class AuditEntry(models.Model):
    """One audited action: actor, action, target, reason. Rows are only ever added."""

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("actor account"),
    )
    # Names an actor without an account: "cli:root", "purge".
    actor_label = models.CharField(_("actor"), max_length=MAX_ADDRESS)
    action = models.CharField(_("action"), max_length=60, db_index=True)
    target = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("target account"),
    )
    target_label = models.CharField(_("target"), max_length=MAX_ADDRESS, blank=True)
    reason = models.CharField(_("reason"), max_length=REASON_LENGTH, blank=True)
    details = models.JSONField(_("details"), default=dict, blank=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True)
    ip = models.GenericIPAddressField(_("IP address"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")

    __str__ = row_name
