"""Adds and retracts likes, comments, replies and follows in the feed."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.selectors import blocked_between
from core.database.transactions import unit_of_work
from notifications.conf import conf
from notifications.kinds import KINDS, PREFERENCE_FIELDS, TITLE_LENGTH, Grouping, Kind
from notifications.models import Notification, Occurrence, Preferences
from notifications.services import delivery, feed
from notifications.signals import notification_changed


class EventResult(StrEnum):
    CREATED = "created"
    AGGREGATED = "aggregated"
    SUPPRESSED_SELF = "suppressed:self"
    SUPPRESSED_BLOCKED = "suppressed:blocked"
    SUPPRESSED_PREFERENCE = "suppressed:preference"
    RETRACTED = "retracted"
    NOT_FOUND = "not_found"


def apply_event(*, action: str, title: str = "", occurred_at: datetime | None = None, **occurrence: Any) -> EventResult:
    """Adds or retracts an occurrence that an app or another service reports; `occurrence` as `retract` takes it."""
    if action == "create":
        return notify(title=title, occurred_at=occurred_at, **occurrence)
    if action == "retract":
        return retract(**occurrence)
    raise ValueError(f"action is create or retract, not {action!r}")


def notify(
    *,
    kind: str,
    recipient_id: int,
    actor_id: int,
    target_id: int | None = None,
    title: str = "",
    comment_id: int | None = None,
    occurred_at: datetime | None = None,
) -> EventResult:
    """Adds one occurrence for one user: a new notification, or one more in the open group.

    `target_id` and `title` (cut at 120 characters) are the post's; kinds whose target is the actor
    ignore both. `occurred_at` in the future counts as now. KeyError for an unknown kind.
    """
    kind_row = KINDS[kind]
    if recipient_id == actor_id:
        return EventResult.SUPPRESSED_SELF
    title = title[:TITLE_LENGTH] if kind_row.has_target else ""
    now = timezone.now()
    at = min(occurred_at or now, now)
    with unit_of_work():
        feed.lock_pair(recipient_id, actor_id, shared=True)
        preferences = _preferences_of_recipient(recipient_id, actor_id, now)
        if preferences is None:
            return EventResult.SUPPRESSED_BLOCKED
        is_silent = preferences.is_silent(kind_row.switch)
        if not preferences.wants(kind_row.switch) and not kind_row.is_always_stored:
            return EventResult.SUPPRESSED_PREFERENCE
        row = Notification(
            recipient_id=recipient_id,
            kind=kind,
            group_key=_group_key(kind_row, target_id),
            is_open=kind_row.grouping is not Grouping.NONE,
            actor_id=actor_id,
            target_id=target_id if kind_row.has_target else None,
            target_title=title,
            count=0,
            first_at=at,
            created_at=at,
        )
        row = _open_row(kind_row, row)
        is_first = row.count == 0
        is_new = _add(kind_row, row, actor_id, comment_id, at, title)
        if is_new and not is_silent:
            delivery.enqueue_push(recipient_id=recipient_id, notification_id=row.id)
        notification_changed.send(Notification, recipient_id=recipient_id, notification_id=row.id, silent=is_silent)
    return EventResult.CREATED if is_first else EventResult.AGGREGATED


def retract(
    *,
    kind: str,
    recipient_id: int,
    actor_id: int,
    target_id: int | None = None,
    comment_id: int | None = None,
) -> EventResult:
    """Retracts the latest matching occurrence; NOT_FOUND without one."""
    kind_row = KINDS[kind]
    matches = Q(
        notification__recipient_id=recipient_id,
        notification__kind=kind,
        notification__target_id=target_id if kind_row.has_target else None,
        actor_id=actor_id,
        comment_id=comment_id,
    )
    with unit_of_work():
        while True:
            occurrence = Occurrence.objects.filter(matches).order_by("-occurred_at", "-id").first()
            if occurrence is None:
                return EventResult.NOT_FOUND
            if _withdraw(occurrence):
                return EventResult.RETRACTED


def _withdraw(occurrence: Occurrence) -> bool:
    """Removes the occurrence under the notification's lock; False if a concurrent retraction has removed it.

    The savepoint releases the lock, because holding it while locking another notification could deadlock.
    """
    with transaction.atomic():
        row = Notification.objects.select_for_update().filter(id=occurrence.notification_id).first()
        is_removed = row is not None and feed.remove_actors(row, Q(id=occurrence.id))
        if not is_removed:
            transaction.set_rollback(True)
    return is_removed


def _preferences_of_recipient(recipient_id: int, actor_id: int, now: datetime) -> Preferences | None:
    """None if the recipient must not be notified: no such account, blocked by staff, or a block between the users."""
    recipients = get_user_model().objects.active(now).filter(id=recipient_id)
    recipient = (
        recipients.exclude(blocked_between(recipient_id, actor_id))
        .select_related("notification_preferences")
        .only("id", *(f"notification_preferences__{name}" for name in PREFERENCE_FIELDS))
        .first()
    )
    if recipient is None:
        return None
    return getattr(recipient, "notification_preferences", None) or Preferences()


def _group_key(kind_row: Kind, target_id: int | None) -> str:
    if kind_row.grouping is Grouping.NONE:
        return ""
    return f"{kind_row.target_type}:{target_id}" if kind_row.grouping is Grouping.TARGET else "all"


def _open_row(kind_row: Kind, new_row: Notification) -> Notification:
    """The open notification of the group, locked. Without one, saves and returns `new_row`."""
    if kind_row.grouping is Grouping.NONE:
        new_row.save(force_insert=True)
        return new_row
    # Never empty: a notification that is opened for this occurrence takes it.
    window = max(timedelta(hours=conf.GROUP_HOURS), timedelta.resolution)
    while True:
        row = (
            Notification.objects.select_for_update(no_key=True)
            .filter(recipient_id=new_row.recipient_id, kind=new_row.kind, group_key=new_row.group_key, is_open=True)
            .first()
        )
        if row is not None and new_row.created_at - row.first_at < window:
            return row
        if row is not None:
            row.is_open = False
            row.save(update_fields=["is_open"])
        # A concurrent transaction may open one; then this inserts nothing and finds that one.
        Notification.objects.bulk_create([new_row], ignore_conflicts=True)


def _add(
    kind_row: Kind,
    row: Notification,
    actor_id: int,
    comment_id: int | None,
    at: datetime,
    title: str,
) -> bool:
    """Adds the occurrence to the locked notification; returns whether it counts."""
    is_single = kind_row.counts_people
    # Uses the unique index of notification and actor: a notification may have thousands of occurrences, a user
    # thousands of notifications.
    own = row.occurrences.filter(actor_id=actor_id, is_single=True)
    is_new = not is_single or not own.exists()
    if is_new:
        row.occurrences.create(actor_id=actor_id, comment_id=comment_id, is_single=is_single, occurred_at=at)
        row.count += 1
    else:
        own.filter(occurred_at__lt=at).update(occurred_at=at)
    if at >= row.created_at:
        row.actor_id = actor_id
        row.created_at = at
        row.target_title = title or row.target_title
    row.save(update_fields=["count", "actor", "created_at", "target_title"])
    return is_new
