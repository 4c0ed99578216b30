"""Removes the messages and reactions of an erased account, for both participants of its conversations."""

from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.images import pictures
from core.database.transactions import unit_of_work
from core.ids import MAX_ID
from messaging import signals
from messaging.conf import conf
from messaging.models import Conversation, Message, MessageRevision, Reaction, Report
from messaging.services import locking


def erase_user(user_id: int) -> None:
    """Empties every message of the user, removes every reaction, and corrects the counters of all participants.

    The conversations stay for the other users, with their own messages. If one
    conversation has many of them, only the newest are announced one by one: clients do not display older ones.
    """
    for conversation_id in list(Conversation.objects.of(user_id).order_by("id").values_list("id", flat=True)):
        with unit_of_work():
            _erase_in(locking.lock(conversation_id, user_id), user_id)
    with unit_of_work():
        # Without an account there is nothing to act against: only the existence of a report is kept.
        Report.objects.filter(reported_id=user_id).update(snapshot={})
        Report.objects.filter(reporter_id=user_id).update(comment="", reporter=None)


def _erase_in(locked: locking.LockedConversation, user_id: int) -> None:
    now = timezone.now()
    messages = Message.objects.not_deleted().filter(conversation=locked.conversation, sender_id=user_id)
    # By the negative id: the order of the index message_keyset.
    newest_first = messages.order_by(F("id") * -1)
    announced_messages = list(newest_first[: conf.ERASURE_ANNOUNCED])[::-1]
    reactions = Reaction.objects.filter(message__conversation=locked.conversation)
    reacted_to = set(
        reactions.filter(user_id=user_id).exclude(message__sender_id=user_id).values_list("message_id", flat=True)
    )
    image_ids = list(messages.exclude(image=None).values_list("image_id", flat=True))
    participants = locked.participants()
    unread_before = {message.id for message in announced_messages if participants[1].is_unread(message)}
    MessageRevision.objects.filter(message__conversation=locked.conversation, message__sender_id=user_id).delete()
    reactions.filter(Q(user_id=user_id) | Q(message__sender_id=user_id)).delete()
    _empty(messages, now)
    pictures.discard(image_ids)
    for participant in participants:
        locking.recount(participant)
        participant.save(update_fields=["unread_count", "last_message_id"])
    for message_id in sorted(reacted_to)[-conf.ERASURE_ANNOUNCED :]:
        signals.reactions_changed.send(
            Message, message_id=message_id, conversation=locked.conversation, actor_id=user_id
        )
    for message in announced_messages:
        message.erase(now)
        signals.message_deleted.send(
            Message,
            message=message,
            conversation=locked.conversation,
            was_unread=message.id in unread_before,
        )


def _empty(messages: QuerySet[Message], now: datetime) -> None:
    """Erases the content of these messages, so many at once that a statement takes no longer than PostgreSQL allows."""
    newest_first = messages.annotate(position=F("id") * -1).order_by("position")
    position = -MAX_ID
    while page := list(newest_first.filter(position__gt=position).values_list("id", flat=True)[: conf.ERASED_AT_ONCE]):
        Message.objects.filter(id__any=page).update(**Message.ERASED, deleted_at=now)
        position = -page[-1]
