"""The lock of a conversation, and the state of its participants while it is held.

Every change inside a conversation locks its row first. Invariants: message ids grow in commit order,
and counters agree with the messages. Participants are locked after the conversation, never before.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection

from accounts import sql
from core.fields import parse_id
from messaging.exceptions import ConversationNotFound, MessageNotFound
from messaging.models import Conversation, Message, Participant
from messaging.selectors.access import raise_if_contact_denied
from messaging.selectors.tables import (
    BETWEEN,
    CONVERSATION,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    PARTICIPANT,
    UNREAD,
    between,
    row,
)

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(slots=True)
class LockedConversation:
    """A locked conversation for one participant, and whether that participant may contact the other one."""

    conversation: Conversation
    user_id: int
    other_id: int
    who_can_message: str
    other_has_written: bool
    is_blocked: bool
    # Participants who do not see the conversation in their list yet.
    unseen_by: list[int]

    def check_can_contact(self, actor: "User") -> None:
        """Raises EmailNotVerified, UserBlocked or MessagePermissionDenied."""
        raise_if_contact_denied(
            actor,
            who_can_message=self.who_can_message,
            has_written=self.other_has_written,
            blocked=self.is_blocked,
        )

    def sides(self) -> tuple[Participant, Participant]:
        """Both participants as they are now: the user's own row first. The conversation's lock covers them."""
        both = {side.user_id: side for side in Participant.objects.filter(conversation=self.conversation)}
        return both[self.user_id], both[self.other_id]


def lock(conversation_id: object, user_id: int) -> LockedConversation:
    """Locks the conversation for one of its participants, in one statement. ConversationNotFound.

    Block and privacy setting were read when the statement began. Counters and watermarks must be read
    from `sides()`, after the lock.
    """
    number = parse_id(conversation_id)
    # NO KEY: rows that refer to the conversation may be inserted meanwhile.
    locking = " FOR NO KEY UPDATE OF c" if connection.vendor == "postgresql" else ""
    found: tuple[Any, ...] | None = None
    if number is not None:
        found = row(
            f"SELECT c.user_low_id, c.user_high_id, u.id, {sql.who_can_message('u')}, o.has_written,"
            f" {sql.blocked_between('o.user_id', '%s')}, o.is_shown,"
            f" (SELECT me.is_shown FROM {PARTICIPANT} me WHERE me.conversation_id = c.id AND me.user_id = %s)"
            f" FROM {CONVERSATION} c"
            f" JOIN {PARTICIPANT} o ON o.conversation_id = c.id AND o.user_id <> %s"
            f" JOIN {sql.USERS} u ON u.id = o.user_id"
            f" WHERE c.id = %s AND (c.user_low_id = %s OR c.user_high_id = %s){locking}",
            [user_id, user_id, user_id, user_id, number, user_id, user_id],
        )
    if number is None or found is None:
        raise ConversationNotFound
    low, high, other_id, who_can_message, has_written, is_blocked, *shown = found
    return LockedConversation(
        conversation=Conversation(id=number, user_low_id=low, user_high_id=high),
        user_id=user_id,
        other_id=other_id,
        who_can_message=who_can_message,
        other_has_written=bool(has_written),
        is_blocked=bool(is_blocked),
        unseen_by=[person for person, sees in zip((other_id, user_id), shown, strict=True) if not sees],
    )


def lock_message(message_id: object, user_id: int) -> tuple[LockedConversation, Message]:
    """Locks the conversation of a message that this user can see, then reads the message.

    MessageNotFound: deleted, cleared, of other users or nonexistent.
    """
    number = parse_id(message_id)
    found = number and row(f"SELECT conversation_id FROM {MESSAGE} WHERE id = %s", [number])
    if not number or not found:
        raise MessageNotFound
    try:
        line = lock(found[0], user_id)
    except ConversationNotFound as error:
        raise MessageNotFound from error
    return line, visible(line, number)


def visible(line: LockedConversation, message_id: int) -> Message:
    """The message inside the locked conversation if this participant can see it. MessageNotFound."""
    seen = Message.objects.visible_to(line.user_id).filter(id=message_id, conversation_id=line.conversation.id)
    message = seen.first()
    if message is None:
        raise MessageNotFound
    return message


def newest_visible_id(conversation_id: int, cleared_up_to_id: int) -> int | None:
    found = row(
        f"SELECT m.id FROM {MESSAGE} m WHERE {NOT_DELETED} AND {BETWEEN} {NEWEST_FIRST} LIMIT 1",
        between(conversation_id, cleared_up_to_id),
    )
    return int(found[0]) if found else None


def count_unread(side: Participant) -> int:
    """Counts the unread messages above the participant's watermarks: the source of `unread_count`."""
    found = row(
        f"SELECT COUNT(*) FROM {MESSAGE} m WHERE {BETWEEN} AND {UNREAD}",
        [*between(side.conversation_id, side.read_up_to), side.user_id],
    )
    return int(found[0]) if found else 0
