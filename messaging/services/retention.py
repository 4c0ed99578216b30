"""Retention: deletes messages that both participants have cleared, and images without a message."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Exists, Min, OuterRef
from django.db.models.functions import Greatest

from accounts.selectors import message_images
from accounts.services import pictures
from core.database import rows
from core.transactions import unit_of_work
from messaging.conf import conf
from messaging.models import BETWEEN, MESSAGE, OLDEST_FIRST, Conversation, Message, Participant, between


def purge(now: datetime, batch: int) -> dict[str, int]:
    """Runs each of the jobs once; returns the number of rows of each kind."""
    return {kind: delete(batch) for kind, delete in jobs(now).items()}


def jobs(now: datetime) -> dict[str, Callable[[int], int]]:
    """For each kind of row a function that deletes at most about `batch` of them in short transactions and returns
    how many. Call it again while that is not 0."""
    return {"messages": _purge_cleared, "images": partial(_purge_images, now)}


def _purge_cleared(batch: int) -> int:
    """Deletes rows at or below both clear watermarks. This also frees their client_id."""
    outdated = (
        Participant.objects.values("conversation_id")
        .annotate(cleared_by_both=Min("cleared_up_to_id"))
        .filter(cleared_by_both__gt=Greatest("conversation__purged_up_to_id", 0))
        .order_by("conversation_id")
        .values_list("conversation_id", "cleared_by_both")[:batch]
    )
    purged = 0
    for conversation_id, cleared_by_both in list(outdated):
        if purged >= batch:
            break
        with unit_of_work():
            conversation = Conversation.objects.select_for_update(no_key=True).get(id=conversation_id)
            messages = rows(
                f"SELECT m.id, m.image_id FROM {MESSAGE} m WHERE {BETWEEN} {OLDEST_FIRST} LIMIT %s",
                [*between(conversation_id, conversation.purged_up_to_id, cleared_by_both + 1), batch - purged],
            )
            ids = [message_id for message_id, _ in messages]
            pictures.discard(image_id for _, image_id in messages if image_id)
            Message.objects.filter(id__in=ids).delete()
            if len(messages) < batch - purged:
                conversation.purged_up_to_id = cleared_by_both
                conversation.save(update_fields=["purged_up_to_id"])
            purged += len(messages)
    return purged


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
    if abandoned:
        pictures.discard(abandoned)
    return len(abandoned)
