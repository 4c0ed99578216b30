"""What a push says, decided at the moment it is sent."""

from dataclasses import dataclass

from django.db.models import OuterRef
from django.utils import timezone

from accounts.selectors import block_between, blocked_by_staff
from notifications.kinds import KINDS, Kind
from notifications.models import Notification, Preferences
from notifications.texts import push_text


@dataclass(frozen=True, slots=True)
class PushContent:
    recipient_id: int
    kind: Kind
    title: str
    body: str
    # For the app: type, notification_id, and what opens on a tap; all strings, as FCM wants them.
    data: dict[str, str]
    # Replaces an older push of the same group on the screen.
    tag: str
    count: int


def push_content(notification_id: int, *, language: str) -> PushContent | None:
    """The push of a row as it is now, in `language`; None when it should not be sent (any more).

    That is: the row is gone or read, a block stands between the two, the recipient is blocked by staff,
    or the preferences have changed since.
    """
    row = (
        Notification.objects.filter(id=notification_id, is_read=False)
        .exclude(blocked_by_staff(timezone.now(), "recipient__"))
        .exclude(block_between(OuterRef("recipient_id"), OuterRef("actor_id")))
        .select_related("actor", "recipient__notification_preferences")
        .first()
    )
    if row is None:
        return None
    kind = KINDS[row.kind]
    choice = getattr(row.recipient, "notification_preferences", None)
    if choice is not None and (
        not choice.enabled or choice.quiet_mode or not getattr(choice, kind.switch)
    ):
        return None
    title, body = push_text(
        kind,
        actor_name=row.actor.display_name,
        target_title=row.target_title,
        count=row.count,
        language=language,
    )
    target_id = row.target_id if kind.has_target else row.actor_id
    return PushContent(
        recipient_id=row.recipient_id,
        kind=kind,
        title=title,
        body=body,
        data={
            "type": row.kind,
            "notification_id": str(row.id),
            f"{kind.target_type}_id": str(target_id),
        },
        tag=f"{row.kind}:{row.group_key or row.id}",
        count=row.count,
    )


def is_quiet(user_id: int) -> bool:
    """Calls should show without ringing: quiet mode is on, or notifications are off altogether."""
    choice = Preferences.objects.filter(user_id=user_id).first()
    return choice is not None and (choice.quiet_mode or not choice.enabled)
