"""The event log and the open sockets. Calls have their own models; Django finds them here."""

import secrets
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from realtime.calls.models import Call, CallParticipant  # noqa: F401
from realtime.conf import conf


def new_epoch() -> str:
    """The epoch of a log. After a restore from backup a new one makes clients reload."""
    return secrets.token_hex(4)


class Stream(models.Model):
    """The position of one user's log. It is locked from numbering an event until commit, so that the order of the
    numbers is the order of the commits."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    epoch = models.CharField(max_length=16, default=new_epoch)
    head_seq = models.BigIntegerField(default=0)
    # Everything up to and including this number was deleted: a client at a lower number must reload.
    min_seq = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("event log")
        verbose_name_plural = _("event logs")


class Event(models.Model):
    """An event of a user's log: its type and the objects concerned. Its data is rendered when it is sent."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=32)
    conversation_id = models.BigIntegerField(null=True)
    # The message, notification, call or user that the event is about.
    object_id = models.BigIntegerField(null=True)
    # Data that cannot be read from the objects later; a few numbers at most, never text of users.
    extra = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [models.UniqueConstraint(fields=["user", "seq"], name="event_user_seq")]


def alive_since(now: datetime | None = None) -> datetime:
    """A socket that was not touched after this moment belongs to a process that died."""
    return (now or timezone.now()) - timedelta(seconds=conf.SOCKET_DEAD_SECONDS)


class SocketQuerySet(models.QuerySet["Socket"]):
    def alive(self, since: datetime | None = None) -> Self:
        """Sockets of running processes; `since` is `alive_since()` unless the caller has another limit."""
        return self.filter(seen_at__gt=since or alive_since())


class Socket(models.Model):
    """An open socket of any process. It is inserted when it opens, touched by its process's sweep, and deleted when it
    closes. A socket that is no longer touched belongs to a process that died."""

    id = models.CharField(max_length=16, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # accounts.Session, without a foreign key, so that the end of a session need not wait for its sockets.
    session_id = models.BigIntegerField()
    # The client has acknowledged the user's log up to this number. Written a few times a second at most.
    acked_seq = models.BigIntegerField(default=0)
    opened_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    objects = SocketQuerySet.as_manager()

    class Meta:
        verbose_name = _("socket")
        verbose_name_plural = _("sockets")
        indexes = [models.Index(fields=["seen_at"], name="socket_seen")]
