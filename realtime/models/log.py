import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


def new_epoch() -> str:
    """The epoch of a log. After a restore from backup a new one makes clients reload."""
    return secrets.token_hex(4)


class Stream(models.Model):
    """The position of one user's log. Its row is locked from numbering an event until commit, so
    that the order of the numbers is the order of the commits."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    epoch = models.CharField(max_length=16, default=new_epoch)
    head_seq = models.BigIntegerField(default=0)
    # Everything up to and including this number was deleted: a client at a lower number must reload.
    min_seq = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("event log")
        verbose_name_plural = _("event logs")


class Event(models.Model):
    """An event of a user's log: what happened to which rows. Its data is rendered when it is sent."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=32)
    conversation_id = models.BigIntegerField(null=True)
    # The message, notification, call or user that the event is about.
    object_id = models.BigIntegerField(null=True)
    # Data that cannot be read from rows later; a few numbers at most, never text of users.
    extra = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [models.UniqueConstraint(fields=["user", "seq"], name="event_user_seq")]
