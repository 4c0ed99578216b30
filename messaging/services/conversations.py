"""Open a conversation, read it, clear it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db.models import Max
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts import selectors as people
from accounts.exceptions import EmailNotVerified, UserBlocked
from core.api import ratelimits
from core.database.transactions import unit_of_work
from messaging import signals
from messaging.exceptions import MessageNotFound
from messaging.models import Conversation, Message, Participant
from messaging.selectors.conversations import ConversationRow, conversations_for, message_unread_count
from messaging.services import locking

if TYPE_CHECKING:
    from accounts.models import User


def start(*, starter: "User", user_id: int, is_counted: bool = True) -> tuple[ConversationRow, bool]:
    """The conversation with that user as the starter sees it, and whether it is new.

    A new one counts against the rate of the starter, unless the caller has a rate of its own (`is_counted`).
    An existing one is returned in spite of a block or a privacy setting, so that its history stays readable.
    EmailNotVerified, UserNotFound, UserBlocked, RateLimited, ValidationError (oneself).
    """
    if not starter.has_verified_email:
        raise EmailNotVerified
    if user_id == starter.id:
        raise ValidationError({"user_id": [_("You cannot write to yourself.")]})
    low, high = sorted((starter.id, user_id))
    conversation = Conversation.objects.filter(user_low_id=low, user_high_id=high).first()
    created = False
    if conversation is None:
        other = people.contactable_user(user_id)
        if people.blocked_either_way(starter.id, other.id):
            raise UserBlocked
        if is_counted:
            ratelimits.check("start_conversation", starter.id)
        with unit_of_work():
            # Several requests at once create only one conversation.
            conversation, created = Conversation.objects.get_or_create(user_low_id=low, user_high_id=high)
            if created:
                _add_participants(conversation, starter.id)
                signals.conversation_started.send(Conversation, conversation=conversation, starter_id=starter.id)
    if not created:
        reveal_conversation(user_id=starter.id, conversation=conversation)
    return conversations_for(starter.id, [conversation.id])[conversation.id], created


def mark_read(
    *, reader_id: int, conversation_id: object, message_id: int | None = None, session_id: int | None = None
) -> dict[str, int]:
    """Moves the reader's watermark to a message, by default to the newest; never back.

    Returns `last_read_id`, `unread_count` of the conversation and `message_unread_count` of all.
    ConversationNotFound, MessageNotFound (not visible, or of another conversation).
    """
    with unit_of_work():
        locked = locking.lock(conversation_id, reader_id)
        participant = locked.participants()[0]
        if message_id is None:
            target = participant.last_message_id or 0
        else:
            target = locked.visible_message(message_id).id
        if target > participant.last_read_id:
            _keep_what_is_told(participant, is_blocked=locked.is_blocked)
            participant.last_read_id = target
            participant.unread_count = locking.count_unread(participant)
            participant.save(update_fields=["last_read_id", "told_read_id", "unread_count"])
            signals.conversation_read.send(
                Conversation,
                conversation=locked.conversation,
                reader_id=reader_id,
                last_read_id=participant.last_read_id,
                unread_count=participant.unread_count,
                session_id=session_id,
            )
        total = message_unread_count(reader_id)
    return {
        "last_read_id": participant.last_read_id,
        "unread_count": participant.unread_count,
        "message_unread_count": total,
    }


def _keep_what_is_told(participant: Participant, *, is_blocked: bool) -> None:
    """Across a block, the other participant is told what was read before it, and nothing later."""
    if not is_blocked:
        participant.told_read_id = None
    elif participant.told_read_id is None:
        participant.told_read_id = participant.last_read_id


def clear(
    *, user_id: int, conversation_id: object, message_id: int | None = None, session_id: int | None = None
) -> int:
    """Hides all messages up to this one, by default up to the newest, for the caller only.

    Returns the watermark; it never moves back. ConversationNotFound, MessageNotFound.
    """
    with unit_of_work():
        locked = locking.lock(conversation_id, user_id)
        participant = locked.participants()[0]
        target = _clear_target(locked, participant, message_id)
        if target > participant.cleared_up_to_id:
            participant.cleared_up_to_id = target
            locking.recount(participant)
            participant.save(update_fields=["cleared_up_to_id", "unread_count", "last_message_id"])
            signals.conversation_cleared.send(
                Conversation,
                conversation=locked.conversation,
                user_id=user_id,
                cleared_up_to_id=target,
                session_id=session_id,
            )
    return participant.cleared_up_to_id


def mark_delivered(*, user_id: int, delivered: Mapping[int, int]) -> dict[int, int]:
    """Records the messages that a device has received: `{conversation id: newest message id}`. Returns the moved watermarks.

    Conversations of other users are ignored, as those across a block are; ids above the newest message count as the
    newest.
    """
    moved: dict[int, int] = {}
    with unit_of_work():
        # Ascending, like all code that locks more than one, to prevent deadlocks. The conversation itself is not
        # locked: only this function writes the watermark, and it compares and sets it.
        conversations = list(Conversation.objects.of(user_id).filter(id__in=delivered).order_by("id"))
        others = [conversation.other_id(user_id) for conversation in conversations]
        blocked = people.ids_blocked_either_way(user_id, others)
        for conversation in conversations:
            if conversation.other_id(user_id) in blocked:
                continue
            target = min(delivered[conversation.id], locking.newest_visible_id(conversation.id, 0) or 0)
            participant = Participant.objects.filter(conversation=conversation, user_id=user_id)
            if participant.filter(delivered_id__lt=target).update(delivered_id=target):
                moved[conversation.id] = target
                signals.conversation_delivered.send(
                    Conversation,
                    conversation=conversation,
                    user_id=user_id,
                    delivered_id=target,
                )
    return moved


def _add_participants(conversation: Conversation, starter_id: int) -> None:
    newest_id = Message.objects.aggregate(id=Max("id"))["id"] or 0
    Participant.objects.bulk_create(
        Participant(conversation=conversation, user_id=user_id, activity_id=newest_id, is_shown=user_id == starter_id)
        for user_id in (conversation.user_low_id, conversation.user_high_id)
    )


def _clear_target(locked: locking.LockedConversation, participant: Participant, message_id: int | None) -> int:
    if message_id is None:
        return participant.last_message_id or 0
    if message_id <= participant.cleared_up_to_id:
        # A repeat: the message is at or below the watermark already.
        if Message.objects.filter(id=message_id, conversation=locked.conversation).exists():
            return message_id
        raise MessageNotFound
    return locked.visible_message(message_id).id


def reveal_conversation(*, user_id: int, conversation: Conversation) -> None:
    """Shows a participant the conversation that the other one has opened; no effect if it is visible already."""
    participant = Participant.objects.filter(conversation_id=conversation.id, user_id=user_id, is_shown=False)
    with unit_of_work(savepoint=False):
        if participant.update(is_shown=True):
            signals.conversation_shown.send(Conversation, conversation=conversation, user_id=user_id)
