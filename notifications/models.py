"""The feed, users' preferences, push devices and deliveries. A delivery is one push to a device, one mail or one
webhook; its table is both queue and log."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from fcm_django.models import AbstractFCMDevice, FCMDeviceQuerySet

from accounts.selectors import blocked_between
from core.text import row_name
from notifications import kinds


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> Self:
        return self.filter(is_read=False)

    def visible(self) -> Self:
        """Notifications that their recipient sees: there is no block between recipient and actor. The same as SQL is in
        selectors."""
        return self.exclude(blocked_between(OuterRef("recipient_id"), OuterRef("actor_id")))

    def visible_to(self, viewer_id: int) -> Self:
        return self.visible().filter(recipient_id=viewer_id)


class Notification(models.Model):
    """An entry in a user's feed: one occurrence, or a group of them."""

    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="notifications",
        db_index=False,
        verbose_name=_("recipient"),
    )
    kind = models.CharField(_("type"), max_length=20, choices=kinds.choices)
    # Occurrences with this key share an open notification: "post:7", "conversation:9", "all". "" for a single
    # occurrence.
    group_key = models.CharField(max_length=40, blank=True)
    # Accepts further occurrences: unread, and not older than the window of its kind.
    is_open = models.BooleanField(_("collects further occurrences"), default=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("from"))
    # Null where the actor is the target.
    target_id = models.BigIntegerField(_("target id"), null=True, blank=True)
    # Empty where the title is the actor's name, which is read from the account.
    target_title = models.CharField(_("target"), max_length=kinds.TITLE_LENGTH, blank=True)
    count = models.PositiveIntegerField(_("number"), default=1)
    # Kind `message`: the first message of the notification, which counts the unread messages from there on.
    first_message_id = models.BigIntegerField(null=True, blank=True)
    is_read = models.BooleanField(_("read"), default=False)
    read_at = models.DateTimeField(_("read at"), null=True, blank=True)
    first_at = models.DateTimeField(_("first occurrence"), default=timezone.now)
    created_at = models.DateTimeField(_("latest occurrence"), default=timezone.now)
    objects = NotificationQuerySet.as_manager()

    class Meta:
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "kind", "group_key"], condition=Q(is_open=True), name="notification_one_open"
            ),
            models.CheckConstraint(condition=Q(is_open=False) | Q(is_read=False), name="notification_open_is_unread"),
        ]
        indexes = [
            # A feed has KEEP_PER_USER notifications at most and is sorted when it is read. With created_at in the
            # index, every message would write new index entries.
            models.Index(fields=["recipient", "is_read"], name="notification_feed")
        ]

    __str__ = row_name

    @property
    def conversation_id(self) -> int | None:
        """The conversation that a tap opens; None where it opens something else."""
        return self.target_id if kinds.KINDS[self.kind].target_type == "conversation" else None


class Occurrence(models.Model):
    """One cause of a notification. Notifications of kind `message` have none: their messages are the causes."""

    notification = models.ForeignKey(Notification, models.CASCADE, related_name="occurrences", db_index=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    comment_id = models.BigIntegerField(null=True, blank=True)
    # A notification counts users, not occurrences, so it has each user once.
    is_single = models.BooleanField(default=False)
    occurred_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "notifications_member"
        verbose_name = _("occurrence in a notification")
        constraints = [
            models.UniqueConstraint(fields=["notification", "actor"], condition=Q(is_single=True), name="member_single")
        ]
        indexes = [models.Index(fields=["notification", "-occurred_at", "-id"], name="member_latest")]


class Preferences(models.Model):
    """A user's notification preferences. Everything is on until they are saved."""

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
        """Notifications under this switch are on. services.feed has the same as SQL for the kind `message`."""
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


class DeviceQuerySet(FCMDeviceQuerySet):
    def active(self) -> Self:
        """Devices whose token the push service still accepts."""
        return self.filter(active=True)


# What differs from fcm-django's own model: docs/decisions/delivery.md#0014
class Device(AbstractFCMDevice):
    """A push token of one user on one device, bound to the session that registered it.

    fcm-django's device, as FCM_DJANGO_FCMDEVICE_MODEL says. Pushes are sent by the delivery worker alone, not by the
    methods of that class, because they are queued, retried and recorded.
    """

    class Platform(models.TextChoices):
        ANDROID = "android", "Android"
        IOS = "ios", "iOS"
        WEB = "web", _("web")

    # Columns of fcm-django with 64 bits, an owner, and labels that are translated.
    id = models.BigAutoField(primary_key=True, verbose_name="ID")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="push_devices", verbose_name=_("user")
    )
    # The token. It is never shown. The digest is unique instead, because an index entry has a size limit.
    registration_id = models.TextField()
    device_id = models.CharField(_("device id"), max_length=255, null=True, blank=True)
    type = models.CharField(_("platform"), max_length=10, choices=Platform.choices, default=Platform.ANDROID)
    active = models.BooleanField(_("in use"), default=True)
    date_created = models.DateTimeField(_("created at"), default=timezone.now)
    # Columns of our own.
    session = models.ForeignKey(
        "accounts.Session", models.CASCADE, related_name="push_devices", verbose_name=_("session")
    )
    token_digest = models.CharField(max_length=64, unique=True)
    failures = models.PositiveSmallIntegerField(_("failures"), default=0)
    locale = models.CharField(_("language"), max_length=35, blank=True)
    app_version = models.CharField(_("app version"), max_length=50, blank=True)
    last_seen_at = models.DateTimeField(_("last seen"), default=timezone.now)
    objects = DeviceQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = _("push device")
        verbose_name_plural = _("push devices")
        permissions = [("send_test_push", _("Can send a test push"))]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "device_id"], condition=Q(device_id__isnull=False), name="device_once_per_user"
            )
        ]

    __str__ = row_name

    @property
    def masked_token(self) -> str:
        """Enough of the token to distinguish two."""
        return f"…{self.registration_id[-6:]}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def pending(self) -> Self:
        """Deliveries that wait for a worker."""
        return self.filter(state=Delivery.State.PENDING)

    def due(self, now: datetime) -> Self:
        """Pending deliveries that should have left by `now` and have not expired."""
        return self.pending().filter(due_at__lte=now, expires_at__gt=now)

    def retriable(self) -> Self:
        """Deliveries that failed or wait for their next attempt, and can be sent again. Deliveries about calls cannot,
        because the call is over; failed mails cannot, because their content is deleted."""
        waiting = Q(state=Delivery.State.PENDING, due_at__gt=timezone.now())
        failed = Q(state=Delivery.State.DEAD, channel__in=(Delivery.Channel.PUSH, Delivery.Channel.WEBHOOK))
        return self.filter(waiting | failed).exclude(kind__in=kinds.CALL_KINDS)


class Delivery(models.Model):
    class Channel(models.TextChoices):
        PUSH = "push", _("push")
        MAIL = "mail", _("mail")
        WEBHOOK = "webhook", _("webhook")

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        LEASED = "leased", _("sending")
        SENT = "sent", _("sent")
        DEAD = "dead", _("failed")
        EXPIRED = "expired", _("expired")
        CANCELLED = "cancelled", _("canceled")

    class Priority(models.IntegerChoices):
        CALL = 0, _("calls")
        CODE = 1, _("codes")
        MESSAGE = 2, _("messages")
        REST = 3, _("other")

    channel = models.CharField(_("channel"), max_length=10, choices=Channel.choices)
    # The name of a webhook's target, which has a worker and a pause of its own.
    target = models.CharField(_("webhook target"), max_length=40, blank=True)
    # A key of kinds.DELIVERY_NAMES; for a webhook the type of its event.
    kind = models.CharField(_("kind"), max_length=40)
    # While a push of a group waits, its key ends in ":open" and later occurrences join it. A claim closes the key, so
    # that later occurrences get a push of their own.
    dedupe_key = models.CharField(max_length=200)
    # Pushes with the same key replace each other on the screen, and are sent at most once a minute.
    group_key = models.CharField(max_length=100, blank=True)
    priority = models.PositiveSmallIntegerField(_("priority"), choices=Priority.choices, default=Priority.REST)
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        verbose_name=_("recipient"),
    )
    device = models.ForeignKey(
        Device, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False, verbose_name=_("push device")
    )
    notification = models.ForeignKey(
        Notification, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False,
        verbose_name=_("notification"),
    )  # fmt: skip
    # Mail: everything that is needed to send it, encrypted and deleted afterwards. Push: ids only, never a text.
    payload = models.JSONField(default=dict, blank=True)
    state = models.CharField(_("state"), max_length=9, choices=State.choices, default=State.PENDING)
    due_at = models.DateTimeField(_("due at"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires at"))
    lease_until = models.DateTimeField(_("reserved until"), null=True, blank=True)
    tries = models.PositiveSmallIntegerField(_("attempts"), default=0)
    last_error = models.CharField(_("last error"), max_length=300, blank=True)
    provider_id = models.CharField(_("provider id"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    # The latest occurrence that this push announces.
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        permissions = [("retry_delivery", _("Can retry deliveries"))]
        # A constraint creates one index; `unique=True` on a text field would add a second one for LIKE.
        constraints = [models.UniqueConstraint(fields=["dedupe_key"], name="delivery_once")]
        indexes = [
            models.Index(fields=["channel", "priority", "due_at"], condition=Q(state="pending"), name="delivery_due"),
            # Webhooks are sent in the order of their events.
            models.Index(
                fields=["target", "id"], condition=Q(state="pending", channel="webhook"), name="delivery_webhook"
            ),
            models.Index(
                fields=["target", "-finished_at"],
                condition=Q(channel="webhook", finished_at__isnull=False),
                name="delivery_answers",
            ),
            models.Index(fields=["lease_until"], condition=Q(state="leased"), name="delivery_lease"),
            models.Index(fields=["id"], condition=Q(state="dead"), name="delivery_dead"),
            models.Index(fields=["device", "group_key", "finished_at"], name="delivery_group"),
            models.Index(fields=["notification", "device", "finished_at"], name="delivery_notification"),
            models.Index(fields=["recipient", "-id"], name="delivery_recipient"),
            models.Index(fields=["finished_at"], condition=Q(finished_at__isnull=False), name="delivery_finished"),
        ]

    __str__ = row_name


class ChannelPause(models.Model):
    """A channel that is paused because its service refuses all requests."""

    # `push`, `mail`, or `webhook:` with the name of a target.
    channel = models.CharField(_("channel"), max_length=60, primary_key=True)
    reason = models.CharField(_("reason"), max_length=300)
    # From this time on a few deliveries are sent as a probe; the first success ends the pause.
    until = models.DateTimeField(_("until"))
    failures = models.PositiveIntegerField(_("failures"), default=1)
    started_at = models.DateTimeField(_("since"), default=timezone.now)

    class Meta:
        verbose_name = _("paused channel")
        verbose_name_plural = _("paused channels")

    __str__ = row_name
