"""The lock of a conversation, and the counters of its participants.

Every change inside a conversation locks its row first. Invariants: message ids grow in commit order,
and counters agree with the messages. Participants are locked after the conversation, never before.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts import sql
from core.api.exceptions import ApiError
from core.database.statements import on_postgresql, row, rows
from core.ids import parse_id
from messaging.exceptions import ConversationNotFound, MessageNotFound
from messaging.models import (
    BETWEEN,
    CONVERSATION,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    PARTICIPANT,
    UNREAD,
    Conversation,
    Message,
    Participant,
    between,
)
from messaging.selectors.conversations import contact_columns, contact_refusal, raise_if_refused

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(slots=True)
class LockedConversation:
    """A locked conversation for one participant."""

    conversation: Conversation
    user_id: int
    other_id: int
    # One of the two has blocked the other.
    is_blocked: bool
    # Why this participant may not contact the other one, if verified.
    refusal: type[ApiError] | None
    # Participants who did not see the conversation in their list when the statement began.
    unseen_by: list[int]

    def check_can_contact(self, actor: "User") -> None:
        """Raises EmailNotVerified, UserBlocked or MessagePermissionDenied."""
        raise_if_refused(actor, self.refusal)

    def participants(self) -> tuple[Participant, Participant]:
        """Both participants as they are now: the user's own row first. The conversation's lock covers them."""
        rows = Participant.objects.filter(conversation=self.conversation)
        by_user = {participant.user_id: participant for participant in rows}
        return by_user[self.user_id], by_user[self.other_id]

    def visible_message(self, message_id: int) -> Message:
        """The message of this conversation if the participant can see it. MessageNotFound."""
        messages = Message.objects.visible_to(self.user_id)
        message = messages.filter(id=message_id, conversation_id=self.conversation.id).first()
        if message is None:
            raise MessageNotFound
        return message


_LOCK = (
    f"SELECT c.user_low_id, c.user_high_id, u.id, {contact_columns('%s')}, o.is_shown,"
    f" (SELECT me.is_shown FROM {PARTICIPANT} me WHERE me.conversation_id = c.id AND me.user_id = %s)"
    f" FROM {CONVERSATION} c"
    f" JOIN {PARTICIPANT} o ON o.conversation_id = c.id AND o.user_id <> %s"
    f" JOIN {sql.USERS} u ON u.id = o.user_id"
    " WHERE c.id = %s AND (c.user_low_id = %s OR c.user_high_id = %s)"
)


# NO KEY, so that rows that refer to the conversation can be inserted meanwhile.
_FOR_UPDATE = " FOR NO KEY UPDATE OF c"


_IF_FREE = f"{_FOR_UPDATE} SKIP LOCKED"


# Every change locks the conversation before anything else: docs/decisions/messaging.md#0031
def lock(conversation_id: object, user_id: int) -> LockedConversation:
    """Locks the conversation for one of its participants, in one statement if it is free. ConversationNotFound.

    Counters and watermarks must be read from `participants()`, after the lock.
    """
    number = parse_id(conversation_id) or 0
    params = [user_id, user_id, user_id, user_id, number, user_id, user_id]
    columns = row(_LOCK + (_IF_FREE if on_postgresql() else ""), params)
    if columns is None and on_postgresql() and row(_LOCK + _FOR_UPDATE, params) is not None:
        # A statement that waited has read block and privacy setting as they were when it began.
        columns = row(_LOCK, params)
    if columns is None:
        raise ConversationNotFound
    low, high, other_id, who_can_message, has_written, blocked, *shown = columns
    return LockedConversation(
        conversation=Conversation(id=number, user_low_id=low, user_high_id=high),
        user_id=user_id,
        other_id=other_id,
        is_blocked=bool(blocked),
        refusal=contact_refusal(who_can_message, has_written, blocked),
        unseen_by=[participant_id for participant_id, sees in zip((other_id, user_id), shown, strict=True) if not sees],
    )


def lock_message(message_id: object, user_id: int) -> tuple[LockedConversation, Message]:
    """Locks the conversation of a message that this user can see, then reads the message.

    MessageNotFound: deleted, cleared, of other users or nonexistent.
    """
    number = parse_id(message_id) or 0
    columns = row(f"SELECT conversation_id FROM {MESSAGE} WHERE id = %s", [number])
    if columns is None:
        raise MessageNotFound
    try:
        locked = lock(columns[0], user_id)
    except ConversationNotFound as error:
        raise MessageNotFound from error
    return locked, locked.visible_message(number)


def newest_visible_id(conversation_id: int, cleared_up_to_id: int) -> int | None:
    columns = row(
        f"SELECT m.id FROM {MESSAGE} m WHERE {NOT_DELETED} AND {BETWEEN} {NEWEST_FIRST} LIMIT 1",
        between(conversation_id, cleared_up_to_id),
    )
    return int(columns[0]) if columns else None


def count_unread(participant: Participant) -> int:
    """The number of unread messages above the participant's watermarks, for `unread_count`."""
    [(count,)] = rows(
        f"SELECT COUNT(*) FROM {MESSAGE} m WHERE {BETWEEN} AND {UNREAD}",
        [*between(participant.conversation_id, participant.read_up_to), participant.user_id],
    )
    return int(count)


def recount(participant: Participant) -> None:
    """Corrects the two values that depend on the participant's visible messages. The caller saves them."""
    participant.unread_count = count_unread(participant)
    participant.last_message_id = newest_visible_id(participant.conversation_id, participant.cleared_up_to_id)
