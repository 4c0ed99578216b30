"""What a person gets of messaging when asking for all data about themselves."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from messaging.models import Conversation, Message, Reaction
from messaging.selectors import conversations_for, message_page

PAGE = 100


def export_for(user_id: int) -> Iterator[dict[str, Any]]:
    """Conversations, then their messages as the person sees them, oldest conversation first.

    One object a line: `{"type": "conversation" | "message" | "reaction", …}`; read in pages, so that
    a long history needs no memory.
    """
    mine = Conversation.objects.filter(Q(user_low_id=user_id) | Q(user_high_id=user_id))
    for conversation_id in list(mine.order_by("id").values_list("id", flat=True)):
        yield {"type": "conversation", **conversations_for(user_id, [conversation_id])[conversation_id]}
        before = None
        while True:
            page, has_more = message_page(
                user_id=user_id, conversation_id=conversation_id, limit=PAGE, before=before
            )
            for message in page:
                yield {"type": "message", **message}
            if not has_more:
                break
            before = page[-1]["id"]
    reactions = Reaction.objects.filter(user_id=user_id).order_by("id")
    for message_id, emoji in reactions.values_list("message_id", "emoji").iterator():
        yield {"type": "reaction", "message_id": message_id, "emoji": emoji}


def counts_for(user_id: int) -> dict[str, int]:
    """How much there is, for a progress bar."""
    mine = Conversation.objects.filter(Q(user_low_id=user_id) | Q(user_high_id=user_id))
    return {
        "conversations": mine.count(),
        "messages": Message.objects.filter(conversation__in=mine, deleted_at=None).count(),
    }
