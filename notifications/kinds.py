"""The table of all kinds of notification: preference, grouping, target and texts of each.

A new kind for an existing signal is one entry here and one receiver.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.emails.texts import EMAIL_TEXTS


class Grouping(Enum):
    TARGET = "one unread row per target"
    ALL = "one unread row for all of the kind"
    NONE = "a row each"


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    # For the documentation.
    meaning: str
    # The preference that switches it off.
    switch: str
    grouping: Grouping
    # The object that a tap opens: post, user (the actor) or conversation.
    target_type: str
    # The push of a single occurrence (None: `many` says that, too), and of several: `%(count)d` is
    # the number of occurrences, or of the other people besides the actor where people are counted.
    one: Any = None
    many: Any = None
    # Requires an action: stored even when its preference is off, but silently.
    is_always_stored: bool = False
    is_urgent: bool = False
    # Counts distinct people, not occurrences.
    counts_people: bool = False

    @property
    def has_target(self) -> bool:
        """An event of this kind names its target; otherwise the actor is the target."""
        return self.target_type != "user"

    @property
    def collapse_key(self) -> str:
        """FCM keeps few of them per device, so there is one for each type of target."""
        return {"post": "activity", "user": "follow", "conversation": "message"}[self.target_type]


_KINDS = (
    Kind(
        name="post_like",
        meaning="The actors like a post.",
        switch="likes",
        grouping=Grouping.TARGET,
        counts_people=True,
        target_type="post",
        one=_("Liked your post"),
        many=ngettext_lazy(
            "and %(count)d more person liked your post",
            "and %(count)d more people liked your post",
            "count",
        ),
    ),
    Kind(
        name="comment",
        meaning="The actors have commented on a post.",
        switch="comments",
        grouping=Grouping.TARGET,
        target_type="post",
        one=_("Commented on your post"),
        many=ngettext_lazy("%(count)d new comment on your post", "%(count)d new comments on your post", "count"),
    ),
    Kind(
        name="reply",
        meaning="The actors have replied to a comment.",
        switch="comments",
        grouping=Grouping.TARGET,
        target_type="post",
        one=_("Replied to your comment"),
        many=ngettext_lazy("%(count)d new reply to your comments", "%(count)d new replies to your comments", "count"),
    ),
    Kind(
        name="follow",
        meaning="The actors follow the user.",
        switch="follows",
        grouping=Grouping.ALL,
        counts_people=True,
        target_type="user",
        one=_("Started following you"),
        many=ngettext_lazy(
            "and %(count)d more person started following you",
            "and %(count)d more people started following you",
            "count",
        ),
    ),
    Kind(
        name="follow_request",
        meaning="The actor asks to follow the user.",
        switch="follows",
        grouping=Grouping.NONE,
        counts_people=True,
        target_type="user",
        one=_("Wants to follow you"),
        is_always_stored=True,
        is_urgent=True,
    ),
    Kind(
        name="follow_approved",
        meaning="The actor has accepted a request to follow.",
        switch="follows",
        grouping=Grouping.NONE,
        counts_people=True,
        target_type="user",
        one=_("Accepted your follow request"),
    ),
    Kind(
        name="message",
        meaning="There are unread messages in a conversation.",
        switch="messages",
        grouping=Grouping.TARGET,
        target_type="conversation",
        many=ngettext_lazy("%(count)d new message", "%(count)d new messages", "count"),
        is_urgent=True,
    ),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
SWITCHES = ("likes", "comments", "follows", "messages")
# All choices in notification preferences.
PREFERENCE_FIELDS = ("enabled", "quiet_mode", *SWITCHES)
# Pushes about calls, which are not in the feed.
CALL_KINDS = ("incoming_call", "call_ended")
# The push that removes notifications that were read on another device.
READ = "read"
# A mail that is not in the table of mails, and each one that was queued by a version before 1.1.
OTHER_MAIL = "mail"
# The subject of a push or mail, with its name for staff; a mail is called as its subject. A webhook has the type of its
# event instead.
DELIVERY_NAMES: dict[str, str | Promise] = {
    "post_like": _("Like"),
    "comment": _("Comment"),
    "reply": _("Reply to a comment"),
    "follow": _("New follower"),
    "follow_request": _("Follow request"),
    "follow_approved": _("Follow request accepted"),
    "message": _("New message"),
    "incoming_call": _("Incoming call"),
    "call_ended": _("Call ended"),
    READ: _("Read on another device"),
    "test": _("Test push"),
    OTHER_MAIL: _("Other mail"),
    **{kind: text.subject for kind, text in EMAIL_TEXTS.items()},
}
# The actions of an event that an app or another service reports.
ACTIONS = ("create", "retract")
TITLE_LENGTH = 120
EVENT_ID_LENGTH = 128
# The kinds that other services may report; only messaging sends messages.
EVENT_KINDS = frozenset(KINDS) - {"message"}


def choices() -> Iterable[tuple[str, str]]:
    """For the model's field and for the schema."""
    return [(name, name) for name in KINDS]
