"""What is deleted: the messages of an erased account for both participants, messages that both have cleared, and images
without a message.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.selectors import message_images
from accounts.services import pictures
from core.database import DeletionJobs, rows_unprepared
from core.text import MAX_ID
from core.transactions import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.models import (
    BETWEEN,
    MESSAGE,
    OLDEST_FIRST,
    Conversation,
    Message,
    MessageRevision,
    Participant,
    Reaction,
    Report,
    between,
)
from messaging.services import storage


def erase_user(user_id: int) -> None:
    """Empties every message of the user, removes every reaction, and corrects the counters of all participants.

    The conversations stay for the other users, with their own messages. Of many messages in one
    conversation, or reactions there, only the newest are announced one by one: clients do not display older ones.
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
        storage.recount(participant)
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


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    return {"messages": _purge_cleared(batch), "images": iter(lambda: _purge_images(now, batch), 0)}


def _purge_cleared(batch: int) -> Iterator[int]:
    """Deletes rows at or below both clear watermarks. This also frees their client_id."""
    purged = 0
    for conversation_id, cleared_by_both in _cleared_conversations(batch):
        more = True
        while more:
            deleted, more = _purge_conversation(conversation_id, cleared_by_both, batch - purged)
            purged += deleted
            if purged == batch:
                yield purged
                purged = 0
    if purged:
        yield purged


def _cleared_conversations(batch: int) -> Iterator[tuple[int, int]]:
    """Conversations with rows to delete, and the lower one of their clear watermarks."""
    outdated = (
        Participant.objects.values("conversation_id")
        .annotate(cleared_by_both=Min("cleared_up_to_id"))
        .filter(cleared_by_both__gt=F("conversation__purged_up_to_id"))
        .order_by("conversation_id")
        .values_list("conversation_id", "cleared_by_both")
    )
    last = 0
    while page := list(outdated.filter(conversation_id__gt=last)[:batch]):
        yield from page
        last = page[-1][0]


def _purge_conversation(conversation_id: int, cleared_by_both: int, limit: int) -> tuple[int, bool]:
    """Deletes up to `limit` rows, oldest first; how many, and whether there may be more."""
    with unit_of_work():
        conversation = Conversation.objects.select_for_update(no_key=True).get(id=conversation_id)
        messages = rows_unprepared(
            f"SELECT m.id, m.image_id FROM {MESSAGE} m WHERE {BETWEEN} {OLDEST_FIRST} LIMIT %s",
            [*between(conversation_id, conversation.purged_up_to_id, cleared_by_both + 1), limit],
        )
        ids = [message_id for message_id, _ in messages]
        pictures.discard(image_id for _, image_id in messages if image_id)
        # Django reads the rows, to delete with them what refers to them; their ids are enough for that.
        Message.objects.filter(id__in=ids).only("id").delete()
        more = len(ids) == limit
        conversation.purged_up_to_id = ids[-1] if more else cleared_by_both
        conversation.save(update_fields=["purged_up_to_id"])
    return len(ids), more


def _purge_images(now: datetime, batch: int) -> int:
    abandoned = list(
        message_images()
        .filter(
            ~Exists(Message.objects.filter(image_id=OuterRef("id"))),
            created_at__lt=now - timedelta(hours=conf.ORPHAN_IMAGE_HOURS),
        )
        .order_by("id")
        .values_list("id", flat=True)[:batch]
    )
    pictures.discard(abandoned)
    return len(abandoned)
