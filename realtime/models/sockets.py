from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from realtime.conf import conf


def alive_since(now: datetime | None = None) -> datetime:
    """A socket that was not touched after this moment belongs to a process that died."""
    return (now or timezone.now()) - timedelta(seconds=conf.SOCKET_DEAD_SECONDS)


class SocketQuerySet(models.QuerySet["Socket"]):
    def alive(self) -> Self:
        """Sockets of running processes."""
        return self.filter(seen_at__gt=alive_since())


class Socket(models.Model):
    """An open socket of any process. Inserted when it opens, touched by its process's sweep, deleted
    when it closes; a row that is no longer touched belongs to a process that died."""

    id = models.CharField(max_length=16, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # accounts.Session; no foreign key, so that a session's end need not wait for its sockets.
    session_id = models.BigIntegerField()
    # The number up to which the client acknowledged the user's log, written a few times a second at most.
    acked_seq = models.BigIntegerField(default=0)
    opened_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    objects = SocketQuerySet.as_manager()

    class Meta:
        verbose_name = _("socket")
        verbose_name_plural = _("sockets")
        indexes = [models.Index(fields=["seen_at"], name="socket_seen")]
