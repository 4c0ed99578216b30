from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


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

    class Meta:
        verbose_name = _("socket")
        verbose_name_plural = _("sockets")
        indexes = [models.Index(fields=["seen_at"], name="socket_seen")]
