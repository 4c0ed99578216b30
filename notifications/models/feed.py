"""The feed: notifications, their members, and users' preferences."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import OuterRef
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.selectors import blocked_between
from core.text import row_name
from notifications import kinds


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> Self:
        return self.filter(is_read=False)

    def visible(self) -> Self:
        """Rows that their recipient sees: no block between recipient and actor. As SQL in selectors."""
        return self.exclude(blocked_between(OuterRef("recipient_id"), OuterRef("actor_id")))

    def visible_to(self, viewer_id: int) -> Self:
        return self.visible().filter(recipient_id=viewer_id)


class Notification(models.Model):
    """A row of a user's feed: one occurrence, or a group of them."""

    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="notifications",
        db_index=False,
        verbose_name=_("recipient"),
    )
    kind = models.CharField(_("type"), max_length=20, choices=kinds.choices)
    # Occurrences with this key share an open row: "post:7", "conversation:9", "all"; "" for a row of one occurrence.
    group_key = models.CharField(max_length=40, blank=True)
    # Accepts further occurrences: unread, and not older than the window of its kind.
    is_open = models.BooleanField(_("collects further occurrences"), default=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("from"))
    # Null where the actor is the target.
    target_id = models.BigIntegerField(_("target id"), null=True, blank=True)
    # Empty where the title is the actor's name: that is taken from the account when read.
    target_title = models.CharField(_("target"), max_length=kinds.TITLE_LENGTH, blank=True)
    count = models.PositiveIntegerField(_("number"), default=1)
    # Kind `message`: the first message of the row; its count is of unread messages from there on.
    first_message_id = models.BigIntegerField(null=True, blank=True)
    is_read = models.BooleanField(_("read"), default=False)
    read_at = models.DateTimeField(_("read at"), null=True, blank=True)
    first_at = models.DateTimeField(_("first occurrence"), default=timezone.now)
    # The latest occurrence.
    created_at = models.DateTimeField(_("latest occurrence"), default=timezone.now)
    objects = NotificationQuerySet.as_manager()

    class Meta:
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "kind", "group_key"],
                condition=models.Q(is_open=True),
                name="notification_one_open",
            ),
            models.CheckConstraint(
                condition=models.Q(is_open=False) | models.Q(is_read=False),
                name="notification_open_is_unread",
            ),
        ]
        indexes = [
            # A feed has KEEP_PER_USER rows at most and is sorted when it is read: with created_at in the
            # index, every message would write new entries for its row.
            models.Index(fields=["recipient", "is_read"], name="notification_feed")
        ]

    __str__ = row_name


class Member(models.Model):
    """One occurrence inside a row. Rows of kind `message` have none: the messages are the members."""

    notification = models.ForeignKey(Notification, models.CASCADE, related_name="members", db_index=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    comment_id = models.BigIntegerField(null=True, blank=True)
    # Users are counted, not occurrences: a user is in the row once.
    is_single = models.BooleanField(default=False)
    occurred_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("occurrence in a notification")
        constraints = [
            models.UniqueConstraint(
                fields=["notification", "actor"], condition=models.Q(is_single=True), name="member_single"
            )
        ]
        indexes = [models.Index(fields=["notification", "-occurred_at", "-id"], name="member_latest")]


class Preferences(models.Model):
    """A user's notification preferences. Without a row everything is on."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="notification_preferences"
    )
    enabled = models.BooleanField(default=True)
    quiet_mode = models.BooleanField(default=False)
    likes = models.BooleanField(default=True)
    comments = models.BooleanField(default=True)
    follows = models.BooleanField(default=True)
    messages = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("notification preferences")
        verbose_name_plural = _("notification preferences")

    def wants(self, switch: str) -> bool:
        """Notifications under this switch are on. As SQL for the kind `message` in services.feed.messages."""
        return self.enabled and bool(getattr(self, switch))

    def is_silent(self, switch: str) -> bool:
        """A notification under this switch is at most shown in the feed: no push, no sound."""
        return self.quiet_mode or not self.wants(switch)


class IngestedEvent(models.Model):
    """An event that another service reported, kept for a week so that it counts once."""

    source = models.CharField(max_length=60)
    event_id = models.CharField(max_length=kinds.EVENT_ID_LENGTH)
    # The hash of the content: the same id with other content is a conflict.
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("event of another service")
        constraints = [models.UniqueConstraint(fields=["source", "event_id"], name="ingestedevent_once")]
