import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


def new_epoch() -> str:
    """Names one life of a log. After a restore from backup a new one tells clients to reload."""
    return secrets.token_hex(4)


class Stream(models.Model):
    """Where the log of one person stands. Its row is locked from numbering an event until commit, so
    that the order of the numbers is the order of the commits."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    epoch = models.CharField(max_length=16, default=new_epoch)
    head_seq = models.BigIntegerField(default=0)
    # Everything up to and including this number is gone: whoever stands before it must reload.
    min_seq = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("event stream")
        verbose_name_plural = _("event streams")


class Event(models.Model):
    """One line of a person's log: what happened to which rows. The text is read when it is sent."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=32)
    conversation_id = models.BigIntegerField(null=True)
    # The message, notification, call or person that the event is about.
    object_id = models.BigIntegerField(null=True)
    # What no row can tell later; a few numbers at most, never anything that people wrote.
    extra = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [models.UniqueConstraint(fields=["user", "seq"], name="event_user_seq")]
        indexes = [models.Index(fields=["created_at"], name="event_age")]
