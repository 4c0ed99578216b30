"""Erases the messages of an account that is being erased, for both participants."""

from django.db.models import Q
from django.utils import timezone

from accounts.services import pictures
from core.database import rows
from core.transactions import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.models import (
    BETWEEN,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    Conversation,
    Message,
    MessageRevision,
    Reaction,
    Report,
    between,
)
from messaging.services import storage


def erase_user(user_id: int) -> None:
    """Empties every message of the user, removes every reaction, and corrects the counters of all participants.

    The conversations stay for the other users, with their own messages. Of many messages in one
    conversation only the newest are announced one by one: clients do not display older ones.
    """
    for conversation_id in list(Conversation.objects.of(user_id).order_by("id").values_list("id", flat=True)):
        with unit_of_work():
            _erase_in(storage.lock(conversation_id, user_id), user_id)
    with unit_of_work():
        # Without an account there is nothing to act against: only the existence of a report is kept.
        Report.objects.filter(reported_id=user_id).update(snapshot={})
        Report.objects.filter(reporter_id=user_id).update(comment="", reporter=None)


def _erase_in(locked: storage.LockedConversation, user_id: int) -> None:
    now = timezone.now()
    messages = Message.objects.not_deleted().filter(conversation=locked.conversation, sender_id=user_id)
    newest = rows(
        f"SELECT m.id FROM {MESSAGE} m WHERE m.sender_id = %s AND {NOT_DELETED} AND {BETWEEN} {NEWEST_FIRST}"
        f" LIMIT {conf.ERASURE_ANNOUNCED:d}",
        [user_id, *between(locked.conversation.id)],
    )
    announced_messages = list(messages.filter(id__in=[columns[0] for columns in newest]).order_by("-id"))
    reactions = Reaction.objects.filter(message__conversation=locked.conversation)
    reacted_to = set(
        reactions.filter(user_id=user_id).exclude(message__sender_id=user_id).values_list("message_id", flat=True)
    )
    image_ids = list(messages.exclude(image=None).values_list("image_id", flat=True))
    participants = locked.participants()
    unread_before = {message.id for message in announced_messages if participants[1].is_unread(message)}
    MessageRevision.objects.filter(message__conversation=locked.conversation, message__sender_id=user_id).delete()
    reactions.filter(Q(user_id=user_id) | Q(message__sender_id=user_id)).delete()
    messages.update(**Message.ERASED, deleted_at=now)
    pictures.discard(image_ids)
    for participant in participants:
        storage.recount(participant)
        participant.save(update_fields=["unread_count", "last_message_id"])
    for message_id in sorted(reacted_to):
        signals.reactions_changed.send(
            Message, message_id=message_id, conversation=locked.conversation, actor_id=user_id
        )
    for message in reversed(announced_messages):
        message.erase(now)
        signals.message_deleted.send(
            Message,
            message=message,
            conversation=locked.conversation,
            was_unread=message.id in unread_before,
        )
