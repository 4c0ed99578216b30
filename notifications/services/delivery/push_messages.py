"""The content of pushes, rendered when they are sent. All values of `data` are text."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.text import display_name
from notifications.channels.messages import PushMessage, Style
from notifications.conf import conf
from notifications.kinds import KINDS, PREFERENCE_FIELDS, READ, Kind
from notifications.models import Notification, Preferences

BODY_LENGTH = 200
TEST_PUSH_SECONDS = 600


@dataclass(frozen=True, slots=True)
class PushContent:
    recipient_id: int
    kind: Kind
    title: str
    body: str
    # Data for the app: type, notification_id, and the object that a tap opens; all strings, as FCM requires.
    data: dict[str, str]
    # Replaces an older push of the same group on the screen.
    tag: str
    count: int
    # The time of the latest occurrence.
    occurred_at: datetime


_PREFERENCES = tuple(f"recipient__notification_preferences__{name}" for name in PREFERENCE_FIELDS)
_COLUMNS = (
    "id", "kind", "group_key", "target_id", "target_title", "created_at", "recipient_id", "actor_id", "count",
    "actor__first_name", "actor__last_name", "actor__username", *_PREFERENCES,
)  # fmt: skip


def push_contents(ids_and_languages: Iterable[tuple[int, str]]) -> dict[tuple[int, str], PushContent]:
    """The current content of pushes, by notification id and language. One query.

    A pair is missing when nothing should be sent any more: the notification was deleted or read, one of the two users
    blocks the other, staff have blocked the recipient, or the preferences have changed.
    """
    pairs = set(ids_and_languages)
    rows = (
        Notification.objects.unread()
        .visible()
        .filter(id__any={notification_id for notification_id, _ in pairs})
        .filter(recipient__in=get_user_model().objects.active())
        .values(*_COLUMNS)
    )
    rows_by_id = {
        row["id"]: row
        for row in rows
        if not _preferences(*(row[name] for name in _PREFERENCES)).is_silent(KINDS[row["kind"]].switch)
    }
    contents = {}
    for language in {pair[1] for pair in pairs}:
        with translation.override(language):
            for notification_id, pair_language in pairs:
                if pair_language == language and notification_id in rows_by_id:
                    contents[notification_id, language] = _content(rows_by_id[notification_id], language)
    return contents


@lru_cache(maxsize=1 << len(PREFERENCE_FIELDS))
def _preferences(*saved: bool | None) -> Preferences:
    """Read-only preferences with these values, which are all None if the user has saved none."""
    return Preferences() if saved[0] is None else Preferences(**dict(zip(PREFERENCE_FIELDS, saved, strict=True)))


def _content(row: dict[str, Any], language: str) -> PushContent:
    kind = KINDS[row["kind"]]
    title, body = push_text(
        kind,
        language=language,
        actor_name=display_name(row["actor__first_name"], row["actor__last_name"], row["actor__username"]),
        target_title=row["target_title"],
        count=row["count"],
    )
    target_id = row["target_id"] if kind.has_target else row["actor_id"]
    return PushContent(
        recipient_id=row["recipient_id"],
        kind=kind,
        title=title,
        body=body,
        data={"type": kind.name, "notification_id": str(row["id"]), f"{kind.target_type}_id": str(target_id)},
        tag=f"{kind.name}:{row['group_key'] or row['id']}",
        count=row["count"],
        occurred_at=row["created_at"],
    )


def push_text(kind: Kind, *, language: str, actor_name: str, target_title: str, count: int) -> tuple[str, str]:
    """Title and body in the current language, which `language` names. The title is the actor's name. The only text of
    users in the body is the title of a post."""
    if kind.one is not None and (count <= 1 or kind.many is None):
        body = _single_text(kind.name, language)
    else:
        number = count - 1 if kind.counts_people else count
        body = kind.many % {"count": max(number, 1)}
    if target_title:
        body = _("%(sentence)s: %(title)s") % {"sentence": body, "title": target_title}
    return actor_name, body if len(body) <= BODY_LENGTH else body[: BODY_LENGTH - 1] + "…"


@lru_cache(maxsize=1000)
def _single_text(kind_name: str, language: str) -> str:
    """The text of a single occurrence; looking it up in the catalogue takes longer than the rest of the push."""
    return str(KINDS[kind_name].one)


def notification_message(token: str, platform: str, content: PushContent, *, badge: int) -> PushMessage:
    """A shown push about a notification. `badge` is the number of unread notifications."""
    return PushMessage(
        token,
        platform,
        Style.SHOWN,
        content.data,
        ttl=conf.PUSH_SECONDS,
        is_urgent=content.kind.is_urgent,
        badge=badge,
        title=content.title,
        body=content.body,
        tag=content.tag,
        collapse_key=content.kind.collapse_key,
        label=content.kind.name,
    )


def read_message(token: str, platform: str, data: dict[str, str], *, badge: int) -> PushMessage:
    """A push about notifications that were read on another device of the user."""
    data = {"type": READ, **data, "unread_count": str(badge)}
    return PushMessage(token, platform, Style.READ, data, ttl=conf.PUSH_SECONDS, badge=badge, label=READ)


def call_message(
    token: str, platform: str, data: dict[str, str], *, quiet: bool, expires_at: datetime, now: datetime
) -> PushMessage:
    """A data-only push about a call: the app decides what to show. It expires when the call stops ringing."""
    return PushMessage(
        token,
        platform,
        Style.BACKGROUND,
        data | ({"quiet": "1"} if quiet else {}),
        ttl=max(1, math.floor((expires_at - now).total_seconds())),
        is_urgent=True,
        label=data["type"],
    )


def test_message(token: str, platform: str, *, language: str, badge: int) -> PushMessage:
    """A shown push that says that pushes arrive."""
    with translation.override(language):
        title, body = _("Test notification"), _("Notifications arrive on this device.")
    return PushMessage(
        token,
        platform,
        Style.SHOWN,
        {"type": "test"},
        ttl=TEST_PUSH_SECONDS,
        is_urgent=True,
        badge=badge,
        title=title,
        body=body,
        tag="test",
        collapse_key="test",
        label="test",
    )
