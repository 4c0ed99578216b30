"""The data of messaging in a user's data export."""

from collections.abc import Iterator
from typing import Any

from accounts.images import pictures
from accounts.services.export import rows
from core.images.pool import EXTENSIONS
from messaging.models import Conversation, Message, Reaction, Report
from messaging.selectors import conversations_for, message_page
from messaging.serializers import ConversationOutput, MessageOutput

MESSAGES_PER_FILE = 2000


def export_files(user_id: int) -> Iterator[tuple[str, Any]]:
    """Files for the archive: each conversation as the user sees it, its messages newest first, 2,000 per file;
    the images the user sent; the user's reactions and reports."""
    conversations = Conversation.objects.filter(participants__user_id=user_id, participants__is_shown=True)
    for conversation_id in list(conversations.order_by("id").values_list("id", flat=True)):
        folder = f"conversation-{conversation_id}"
        yield (
            f"{folder}/conversation.json",
            ConversationOutput.render(conversations_for(user_id, [conversation_id])[conversation_id]),
        )
        for number, part in enumerate(_parts(user_id, conversation_id), start=1):
            yield f"{folder}/messages-{number:04d}.json", part
    sent = Message.objects.not_deleted().filter(sender_id=user_id).exclude(image=None)
    for message in sent.filter(conversation__in=conversations).select_related("image").order_by("id").iterator():
        image: Any = message.image
        if (content := pictures.content_of(image)) is not None:
            yield f"images/{message.id}.{EXTENSIONS[image.mime]}", content
    yield "reactions.json", rows(Reaction.objects.filter(user_id=user_id), "message_id", "emoji", "created_at")
    yield (
        "reports.json",
        rows(Report.objects.filter(reporter_id=user_id), "message_id", "reason", "comment", "state", "created_at"),
    )


def _parts(user_id: int, conversation_id: int) -> Iterator[list[dict[str, Any]]]:
    before, has_more = None, True
    while has_more:
        page, has_more = message_page(
            user_id=user_id, conversation_id=conversation_id, limit=MESSAGES_PER_FILE, before=before
        )
        if page:
            before = page[-1].id
            yield [MessageOutput.render(row, user_id) for row in page]
