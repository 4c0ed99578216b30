"""Conversations of two users, their messages and reports."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.ids import MAX_ID
from core.text import row_name
from messaging.conf import CLIENT_ID_LENGTH, REPORT_REASON_LENGTH


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of(self, user_id: int) -> Self:
        """Conversations in which the user takes part."""
        return self.filter(Q(user_low_id=user_id) | Q(user_high_id=user_id))


class Conversation(models.Model):
    """The only conversation of two users. Every change inside it locks it first, except `delivered_id`."""

    user_low = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False, verbose_name=_("first person")
    )
    user_high = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("second person")
    )
    # Messages up to this id were cleared by both participants and have been deleted.
    purged_up_to_id = models.BigIntegerField(_("cleared up to message"), default=0)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        constraints = [
            models.UniqueConstraint(fields=["user_low", "user_high"], name="conversation_pair"),
            models.CheckConstraint(condition=Q(user_low__lt=F("user_high")), name="conversation_ordered"),
        ]

    __str__ = row_name

    def other_id(self, user_id: int) -> int:
        """The id of the other participant."""
        return self.user_high_id if user_id == self.user_low_id else self.user_low_id


class Participant(models.Model):
    """A user's part of a conversation: read, delivery and clear watermarks, and the counters derived from them."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="participants", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # Watermarks are message ids; they only move forward. 0: nothing yet.
    last_read_id = models.BigIntegerField(default=0)
    delivered_id = models.BigIntegerField(default=0)
    # What the other participant is told instead of `last_read_id`: the position of before a block in which this user
    # has read on. NULL: no such block.
    told_read_id = models.BigIntegerField(null=True, blank=True)
    cleared_up_to_id = models.BigIntegerField(default=0)
    # Derived from messages and watermarks; written in the transaction that changes those. Not indexed:
    # every message changes them for both participants, and PostgreSQL then updates the row in place (HOT).
    unread_count = models.PositiveIntegerField(default=0)
    last_message_id = models.BigIntegerField(null=True, blank=True)
    # The newest message id at the last activity: sorts the list independently of clocks.
    activity_id = models.BigIntegerField(default=0)
    has_written = models.BooleanField(default=False)
    # The user who opens a conversation sees it at once, the other one with the first message or call.
    is_shown = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("participant")
        constraints = [models.UniqueConstraint(fields=["conversation", "user"], name="participant_once")]

    @property
    def read_up_to(self) -> int:
        """No message up to this id is unread: it was read or cleared."""
        return max(self.last_read_id, self.cleared_up_to_id)

    def is_unread(self, message: "Message") -> bool:
        """Whether a message that is not deleted counts in `unread_count`; UNREAD is the same as SQL."""
        return message.counts_as_unread and message.sender_id != self.user_id and message.id > self.read_up_to


class MessageQuerySet(models.QuerySet["Message"]):
    def not_deleted(self) -> Self:
        return self.filter(deleted_at=None)

    def visible_to(self, user_id: int | None) -> Self:
        """Messages of the user's conversations that are not deleted, nor cleared by the user."""
        return self.not_deleted().filter(
            conversation__participants__user_id=user_id, conversation__participants__cleared_up_to_id__lt=F("id")
        )


class Message(models.Model):
    """One message. A deleted message stays as an empty row, so that order and replies remain valid."""

    class Kind(models.TextChoices):
        TEXT = "text", _("text")
        IMAGE = "image", _("image")
        CALL = "call", _("call")

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="messages", db_index=False, verbose_name=_("conversation")
    )
    sender = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False, verbose_name=_("sender")
    )
    kind = models.CharField(_("kind"), max_length=5, choices=Kind.choices, default=Kind.TEXT)
    body = models.TextField(null=True, blank=True)
    # The body as search compares it (core.folding.fold).
    body_folded = models.TextField(blank=True)
    # No foreign key: the message replied to may be purged while the reply stays.
    reply_to_id = models.BigIntegerField(_("reply to message"), null=True, blank=True)
    image = models.ForeignKey(
        "accounts.Image", models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    call_id = models.BigIntegerField(null=True, blank=True)
    call_media = models.CharField(max_length=5, blank=True)
    call_outcome = models.CharField(max_length=10, blank=True)
    call_duration_s = models.PositiveIntegerField(null=True, blank=True)
    client_id = models.CharField(max_length=CLIENT_ID_LENGTH, null=True, blank=True)
    # SHA-256 of the request with this client_id: edits do not change it.
    request_digest = models.CharField(max_length=64, blank=True)
    counts_as_unread = models.BooleanField(default=True)
    edited_at = models.DateTimeField(_("edited at"), null=True, blank=True)
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    objects = MessageQuerySet.as_manager()

    # The content fields of a deleted or erased message.
    ERASED: ClassVar[dict[str, Any]] = {"body": None, "body_folded": "", "request_digest": "", "image": None}

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        permissions = [("reveal_message", _("Can reveal the text of messages, with a reason"))]
        # Partial: a message without the value has no entry.
        constraints = [
            models.UniqueConstraint(
                fields=["sender", "client_id"], condition=Q(client_id__isnull=False), name="message_client_id"
            ),
            models.UniqueConstraint(fields=["image"], condition=Q(image__isnull=False), name="message_image"),
            models.UniqueConstraint(fields=["call_id"], condition=Q(call_id__isnull=False), name="message_call"),
        ]
        # By the negative id: an order that only this index has (see BETWEEN, docs/decisions/messaging.md#0032).
        indexes = [models.Index(F("conversation"), F("id") * Value(-1), name="message_keyset")]

    __str__ = row_name

    def erase(self, now: datetime) -> None:
        """Empties the message in memory. The caller saves it: `update_fields=[*Message.ERASED, "deleted_at"]`."""
        for name, value in self.ERASED.items():
            setattr(self, name, value)
        self.deleted_at = now


class MessageRevision(models.Model):
    """The text of a message before an edit. For staff; erased with the message."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="revisions")
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("earlier version of a message")


class Reaction(models.Model):
    message = models.ForeignKey(Message, models.CASCADE, related_name="reactions", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    emoji = models.CharField(max_length=40)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("reaction")
        constraints = [models.UniqueConstraint(fields=["message", "user", "emoji"], name="reaction_once")]


class Report(models.Model):
    """A participant's report of a message to staff. The snapshot is kept when the message is deleted."""

    # Of the row that a service returns: its message had been reported before.
    is_repeated = False

    class State(models.TextChoices):
        OPEN = "open", _("open")
        RESOLVED = "resolved", _("resolved")
        DISMISSED = "dismissed", _("dismissed")

    message = models.ForeignKey(
        Message,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="reports",
        verbose_name=_("message"),
        db_index=False,
    )
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("reported by"),
    )
    reported = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("reported person"),
    )
    reason = models.CharField(_("reason"), max_length=REPORT_REASON_LENGTH)
    comment = models.TextField(_("comment"), blank=True)
    snapshot = models.JSONField(_("reported text"), default=dict)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN, db_index=True)
    # How many earlier open reports of the same user about the same person there are. The list of staff shows the first
    # report of each pair before the second ones, so that one account cannot fill its beginning.
    turn = models.PositiveIntegerField(default=0, editable=False)
    resolution = models.CharField(_("resolution"), max_length=500, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("resolved by"),
    )
    resolved_at = models.DateTimeField(_("resolved at"), null=True, blank=True)
    created_at = models.DateTimeField(_("reported at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        permissions = [("resolve_report", _("Can close reports"))]
        constraints = [models.UniqueConstraint(fields=["message", "reporter"], name="report_once")]
        indexes = [models.Index(fields=["turn", "-id"], name="report_turn")]

    __str__ = row_name

    @property
    def reported_text(self) -> str:
        """The text of the message when it was reported, or its kind without a text."""
        kind = self.snapshot.get("kind")
        return self.snapshot.get("body") or (str(Message.Kind(kind).label) if kind else "")


# Table names and conditions for the hand-written statements of the hot paths, which take a quarter of the ORM's time.
# The statements are in `selectors` and `services`, and are tested on both databases.
CONVERSATION = Conversation._meta.db_table
PARTICIPANT = Participant._meta.db_table
MESSAGE = Message._meta.db_table
REACTION = Reaction._meta.db_table

# SQL: a message `m` that is not deleted, as Message.objects.not_deleted().
NOT_DELETED = "m.deleted_at IS NULL"
# SQL: a message `m` above Participant.read_up_to for which Participant.is_unread() holds; takes the participant's id.
UNREAD = f"{NOT_DELETED} AND m.counts_as_unread AND m.sender_id <> %s"


def visible(m: str, cleared: str) -> str:
    """SQL: a message of a participant's conversation that Message.objects.visible_to() finds; `cleared` is the SQL of
    the participant's watermark."""
    return f"{m}.deleted_at IS NULL AND {m}.id > {cleared}"


# SQL: messages `m` of one conversation between two ids, both excluded; takes `between(…)`.
#
# Compared and sorted by the negative id, which the index message_keyset holds: with `ORDER BY id`
# PostgreSQL may scan the primary key instead, and so the messages of all other conversations.
BETWEEN = "m.conversation_id = %s AND (m.id * -1) < %s AND (m.id * -1) > %s"
NEWEST_FIRST = "ORDER BY (m.id * -1)"
OLDEST_FIRST = "ORDER BY (m.id * -1) DESC"


def between(conversation_id: int, above: int = 0, below: int = MAX_ID) -> list[int]:
    return [conversation_id, -above, -below]
