"""Deletes messages that both participants have cleared, and images without a message."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, F, Min, OuterRef

from accounts.images import pictures
from accounts.selectors import message_images
from core.database.deletion import DeletionJobs
from core.database.statements import rows_unprepared
from core.database.transactions import unit_of_work
from messaging.conf import conf
from messaging.models import (
    BETWEEN,
    MESSAGE,
    OLDEST_FIRST,
    Conversation,
    Message,
    Participant,
    between,
)


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    return {"messages": _purge_cleared(batch), "images": iter(lambda: _purge_images(now, batch), 0)}


def _purge_cleared(batch: int) -> Iterator[int]:
    """Deletes messages at or below both clear watermarks. This also frees their client_id."""
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
    """Conversations with messages to delete, and the lower one of their clear watermarks."""
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
    """Deletes up to `limit` messages, oldest first. Returns how many, and whether there may be more."""
    with unit_of_work():
        conversation = Conversation.objects.select_for_update(no_key=True).get(id=conversation_id)
        messages = rows_unprepared(
            f"SELECT m.id, m.image_id FROM {MESSAGE} m WHERE {BETWEEN} {OLDEST_FIRST} LIMIT %s",
            [*between(conversation_id, conversation.purged_up_to_id, cleared_by_both + 1), limit],
        )
        ids = [message_id for message_id, _ in messages]
        pictures.discard(image_id for _, image_id in messages if image_id)
        # Django reads the messages to delete the rows that refer to them; their ids are enough for that.
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
