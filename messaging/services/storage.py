"""The lock of a conversation, and the writes that need it: messages and the state of participants.

Every change inside a conversation locks its row first. Invariants: message ids grow in commit order,
and counters agree with the messages. Participants are locked after the conversation, never before.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from accounts import sql
from accounts.services import pictures
from core.database import column_values, insert_into, on_postgresql, row, rows, set_id
from core.exceptions import ApiError
from core.text import parse_id
from core.transactions import unit_of_work
from messaging import signals
from messaging.exceptions import ConversationNotFound, IdempotencyConflict, MessageNotFound
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
    MessageRevision,
    Participant,
    Reaction,
    between,
)
from messaging.selectors.conversations import contact_columns, contact_refusal, raise_if_refused
from messaging.selectors.messages import MessageRow, messages_for

if TYPE_CHECKING:
    from accounts.models import Image, User


@dataclass(slots=True)
class LockedConversation:
    """A locked conversation for one participant."""

    conversation: Conversation
    user_id: int
    other_id: int
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
# NO KEY: rows that refer to the conversation may be inserted meanwhile.
_FOR_UPDATE = " FOR NO KEY UPDATE OF c"
_IF_FREE = f"{_FOR_UPDATE} SKIP LOCKED"


def lock(conversation_id: object, user_id: int) -> LockedConversation:
    """Locks the conversation for one of its participants, in one statement if it is free. ConversationNotFound.

    Counters and watermarks must be read from `participants()`, after the lock.
    """
    number = parse_id(conversation_id) or 0
    params = [user_id, user_id, user_id, user_id, number, user_id, user_id]
    columns = row(_LOCK + (_IF_FREE if on_postgresql() else ""), params)
    if columns is None and on_postgresql() and row(_LOCK + _FOR_UPDATE, params) is not None:
        # The statement that waited has seen block and privacy setting as they were when it began.
        columns = row(_LOCK, params)
    if columns is None:
        raise ConversationNotFound
    low, high, other_id, who_can_message, has_written, blocked, *shown = columns
    return LockedConversation(
        conversation=Conversation(id=number, user_low_id=low, user_high_id=high),
        user_id=user_id,
        other_id=other_id,
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
    """Counts the unread messages above the participant's watermarks: the source of `unread_count`."""
    [(count,)] = rows(
        f"SELECT COUNT(*) FROM {MESSAGE} m WHERE {BETWEEN} AND {UNREAD}",
        [*between(participant.conversation_id, participant.read_up_to), participant.user_id],
    )
    return int(count)


def recount(participant: Participant) -> None:
    """Corrects both values that depend on the messages which the participant sees. The caller saves them."""
    participant.unread_count = count_unread(participant)
    participant.last_message_id = newest_visible_id(participant.conversation_id, participant.cleared_up_to_id)


_INSERT = f"{insert_into(Message)} ON CONFLICT DO NOTHING RETURNING id"
_NEW_UNREAD_COUNT = "unread_count + CASE WHEN user_id = %s THEN 0 ELSE %s END"
_NEW_HAS_WRITTEN = "has_written OR (user_id = %s AND %s)"
_INSERT_AND_COUNT = (
    f"WITH new AS ({_INSERT}), participants AS (UPDATE {PARTICIPANT} SET last_message_id = new.id,"
    f" activity_id = new.id, unread_count = {_NEW_UNREAD_COUNT}, has_written = {_NEW_HAS_WRITTEN}"
    " FROM new WHERE conversation_id = %s RETURNING user_id, unread_count)"
    " SELECT new.id, participants.user_id, participants.unread_count FROM new, participants"
)
_COUNT = (
    f"UPDATE {PARTICIPANT} SET last_message_id = %s, activity_id = %s,"
    f" unread_count = {_NEW_UNREAD_COUNT}, has_written = {_NEW_HAS_WRITTEN}"
    " WHERE conversation_id = %s RETURNING user_id, unread_count"
)


def insert(message: Message, locked: LockedConversation) -> dict[int, int]:
    """Inserts the message, sets its id, updates both participants' counters; returns their unread counts, by user.

    Empty, with nothing written, if the sender's client_id is taken.
    """
    values = column_values(message)
    is_written = message.kind != Message.Kind.CALL
    effects = [message.sender_id, int(message.counts_as_unread), message.sender_id, is_written, message.conversation_id]
    if on_postgresql():
        counts = rows(_INSERT_AND_COUNT, [*values, *effects])
    else:
        new = rows(_INSERT, values)
        counts = new and [(new[0][0], *count) for count in rows(_COUNT, [new[0][0], new[0][0], *effects])]
    if not counts:
        return {}
    set_id(message, counts[0][0])
    for user_id in locked.unseen_by:
        show_to(user_id=user_id, conversation=locked.conversation)
    return {user_id: unread for _, user_id, unread in counts}


def show_to(*, user_id: int, conversation: Conversation) -> None:
    """Shows a participant the conversation that the other one has opened; no effect if it is visible already."""
    participant = Participant.objects.filter(conversation_id=conversation.id, user_id=user_id, is_shown=False)
    with unit_of_work(savepoint=False):
        if participant.update(is_shown=True):
            signals.conversation_shown.send(Conversation, conversation=conversation, user_id=user_id)


def digest_of(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def original_of(sender_id: int, client_id: str | None, digest: str) -> MessageRow:
    """The message first sent with this client_id. MessageNotFound, IdempotencyConflict for a request that does not match."""
    message = None
    if client_id is not None:
        message = Message.objects.not_deleted().filter(sender_id=sender_id, client_id=client_id).first()
    if message is None:
        raise MessageNotFound
    if message.request_digest != digest:
        raise IdempotencyConflict
    shown = messages_for(sender_id, [message.id]).get(message.id)
    return shown or row_of(message, image=message.image)


# The fields that a row has in common with the message itself; the others are of its image and of the quoted message.
_OF_MESSAGE = MessageRow._fields[: MessageRow._fields.index("image_token")]


def row_of(message: Message, *, image: "Image | None" = None, replied: Message | None = None) -> MessageRow:
    """The row of a new message, without a query."""
    row = MessageRow(*(getattr(message, name) for name in _OF_MESSAGE))
    if image is not None:
        row = row._replace(
            image_token=image.token,
            image_width=image.width,
            image_height=image.height,
            image_mime=image.mime,
            image_size=image.size,
            image_blurhash=image.blurhash,
        )
    if replied is not None:
        row = row._replace(
            reply_sender_id=replied.sender_id,
            reply_kind=replied.kind,
            reply_body=replied.body,
            reply_image_token=replied.image.token if replied.image else None,
        )
    return row


def erase(message: Message, locked: LockedConversation) -> None:
    """Empties a message that the lock's user has sent, and corrects both participants' counters. Needs a unit of work."""
    participants = locked.participants()
    was_unread = participants[1].is_unread(message)
    MessageRevision.objects.filter(message=message).delete()
    Reaction.objects.filter(message=message).delete()
    image_id = message.image_id
    message.erase(timezone.now())
    message.save(update_fields=[*Message.ERASED, "deleted_at"])
    if image_id is not None:
        pictures.discard([image_id])
    for participant in participants:
        if participant.is_unread(message) or participant.last_message_id == message.id:
            recount(participant)
            participant.save(update_fields=["unread_count", "last_message_id"])
    signals.message_deleted.send(Message, message=message, conversation=locked.conversation, was_unread=was_unread)
