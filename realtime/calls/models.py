"""A call between two users. SDP and addresses are never stored."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.text import row_name
from messaging.conf import CLIENT_ID_LENGTH


class CallQuerySet(models.QuerySet["Call"]):
    def of(self, user_id: int) -> Self:
        """Calls in which the user is or was a participant."""
        return self.filter(Q(caller_id=user_id) | Q(callee_id=user_id))

    def not_ended(self) -> Self:
        return self.exclude(state=Call.State.ENDED)

    def overdue(self) -> Self:
        """Calls that have not ended although their deadline has passed."""
        return self.not_ended().filter(expires_at__lte=timezone.now())


class CallParticipantQuerySet(models.QuerySet["CallParticipant"]):
    def live_of(self, user_id: int) -> Self:
        """The user's part of the call that has not ended, if there is one."""
        return self.filter(user_id=user_id, live=True)


class Call(models.Model):
    class Media(models.TextChoices):
        AUDIO = "audio", _("audio")
        VIDEO = "video", _("video")

    class State(models.TextChoices):
        RINGING = "ringing", _("ringing")
        CONNECTING = "connecting", _("connecting")
        ACTIVE = "active", _("active")
        ENDED = "ended", _("ended")

    class Outcome(models.TextChoices):
        COMPLETED = "completed", _("completed")
        MISSED = "missed", _("missed")
        CANCELED = "canceled", _("canceled")
        DECLINED = "declined", _("declined")
        BUSY = "busy", _("busy")
        FAILED = "failed", _("failed")
        LOST = "lost", _("lost")

    # Without a foreign key, because the conversation belongs to another app.
    conversation_id = models.BigIntegerField(_("conversation"))
    caller = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("caller"), db_index=False
    )
    callee = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("callee"))
    media = models.CharField(_("media"), max_length=5, choices=Media.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.RINGING)
    outcome = models.CharField(_("outcome"), max_length=9, choices=Outcome.choices, blank=True)
    # The caller's own id of this invitation (idempotency key). A repeat finds the same call.
    client_id = models.CharField(max_length=CLIENT_ID_LENGTH, null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    # The deadline of the current state. While a bound socket of an active call is open, the deadline is extended.
    expires_at = models.DateTimeField()
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    objects = CallQuerySet.as_manager()

    class Meta:
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        constraints = [
            models.UniqueConstraint(fields=["caller", "client_id"], name="call_client_id"),
            models.CheckConstraint(condition=~Q(caller=F("callee")), name="call_needs_two"),
            models.CheckConstraint(
                condition=Q(state="ended", ended_at__isnull=False) & ~Q(outcome="")
                | ~Q(state="ended") & Q(ended_at=None, outcome=""),
                name="call_ends_with_an_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=~Q(state="ended"), name="call_due"),
            models.Index(fields=["created_at"], name="call_created"),
        ]

    __str__ = row_name

    def other_id(self, user_id: int) -> int:
        """The other participant."""
        return self.callee_id if user_id == self.caller_id else self.caller_id

    @property
    def duration_s(self) -> int | None:
        """Whole seconds from the answer to the end; None during the call, 0 without an answer."""
        if self.ended_at is None:
            return None
        if self.answered_at is None:
            return 0
        return max(0, int((self.ended_at - self.answered_at).total_seconds()))


class CallParticipant(models.Model):
    """A participant of a call, and the device bound to it."""

    call = models.ForeignKey(Call, models.CASCADE, related_name="participants", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    # True until the call has ended: the database allows one such row per user.
    live = models.BooleanField(default=True)
    # The bound device: its session (accounts.Session), and its only socket that may send commands.
    session_id = models.BigIntegerField(null=True, blank=True)
    socket_id = models.CharField(max_length=16, blank=True)
    # Empty in an active call: the bound socket was assumed and has not confirmed it yet.
    connected_at = models.DateTimeField(null=True, blank=True)
    # When the bound socket closed; empty while it is open, or when its process died.
    gone_at = models.DateTimeField(null=True, blank=True)
    # The id of the callee's own invitation, if that accepted the call because both called each other.
    client_id = models.CharField(max_length=CLIENT_ID_LENGTH, null=True, blank=True)
    # Candidates sent since the last restart.
    candidates = models.PositiveSmallIntegerField(default=0)
    objects = CallParticipantQuerySet.as_manager()

    class Meta:
        verbose_name = _("call participant")
        verbose_name_plural = _("call participants")
        constraints = [
            models.UniqueConstraint(fields=["call", "user"], name="callparticipant_once"),
            models.UniqueConstraint(fields=["user"], condition=Q(live=True), name="callparticipant_one_live"),
            # Nearly all participants have none.
            models.UniqueConstraint(
                fields=["user", "client_id"], condition=Q(client_id__isnull=False), name="callparticipant_client_id"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-call"], name="callparticipant_history"),
            # Finds the participant to whom a closing socket was bound.
            models.Index(fields=["socket_id"], condition=Q(live=True), name="callparticipant_socket"),
        ]
