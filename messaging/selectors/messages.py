"""Messages as one participant sees them: one statement for any number, reactions and previews included."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Max

from accounts import sql
from core.database import as_parameter, is_any, on_postgresql, rows
from core.text import MAX_ID, parse_id
from messaging.models import (
    BETWEEN,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    OLDEST_FIRST,
    PARTICIPANT,
    REACTION,
    Message,
    Reaction,
    between,
    visible,
)
from messaging.selectors.conversations import watermark_for

if TYPE_CHECKING:
    from accounts.models import Image

# Reactions as (user, emoji), in order of use.
Uses = Sequence[tuple[int, str]]


class MessageRow(NamedTuple):
    """A message as one participant sees it, in the order of the columns."""

    id: int
    conversation_id: int
    sender_id: int
    kind: str
    body: str | None
    reply_to_id: int | None
    edited_at: Any
    created_at: Any
    client_id: str | None
    call_id: int | None = None
    call_media: str = ""
    call_outcome: str = ""
    call_duration_s: int | None = None
    image_token: str | None = None
    image_width: int = 0
    image_height: int = 0
    image_mime: str = ""
    image_size: int = 0
    image_blurhash: str = ""
    # The message replied to, if the viewer can still see it.
    reply_sender_id: int | None = None
    reply_kind: str = ""
    reply_body: str | None = None
    reply_image_token: str | None = None
    # (user, emoji) in order of use.
    reactions: Uses = ()


def select(cleared: str = "%s", join: str = "", source: str = MESSAGE, before: str = "") -> str:
    """SELECT … FROM for messages `m` of `source`; `cleared` is the SQL of the viewer's watermark, `before` names columns
    before those of a MessageRow.

    A reply is of the conversation of its message. The join does not say so again: with statistics of a smaller table
    PostgreSQL would read the whole conversation for each reply.
    """
    aggregate = "string_agg" if on_postgresql() else "group_concat"
    return (
        f"SELECT {before}m.id, m.conversation_id, m.sender_id, m.kind, m.body, m.reply_to_id, m.edited_at, m.created_at,"
        " m.client_id, m.call_id, m.call_media, m.call_outcome, m.call_duration_s,"
        f" {sql.image('i')}, r.sender_id, r.kind, r.body, {sql.image_token('ri')},"
        f" (SELECT {aggregate}(x.id || ' ' || x.user_id || ' ' || x.emoji, '|')"
        f"  FROM {REACTION} x WHERE x.message_id = m.id)"
        f" FROM {source} m{join}"
        f" LEFT JOIN {sql.IMAGES} i ON i.id = m.image_id"
        f" LEFT JOIN {MESSAGE} r ON r.id = m.reply_to_id AND {visible('r', cleared)}"
        f" LEFT JOIN {sql.IMAGES} ri ON ri.id = r.image_id"
    )


_CLEARED = f"(SELECT cleared_up_to_id FROM {PARTICIPANT} WHERE conversation_id = %s AND user_id = %s)"


def row_of(columns: Sequence[Any]) -> MessageRow:
    """Of the columns of `select`, of which the last are the reactions: "id user emoji" joined by "|", in any order."""
    *values, reactions = columns
    return MessageRow._make((*values, _uses(reactions) if reactions else ()))


def _uses(aggregate: str) -> Uses:
    uses = []
    for part in aggregate.split("|"):
        reaction_id, user_id, emoji = part.split(" ", 2)
        uses.append((int(reaction_id), int(user_id), emoji))
    return [(user_id, emoji) for _, user_id, emoji in sorted(uses)]


def message_page(
    *, user_id: int, conversation_id: object, limit: int, before: int | None = None, after: int | None = None
) -> tuple[list[MessageRow], bool]:
    """Messages newest first, and whether more follow in that direction. ConversationNotFound.

    `before`: the newest below that id. `after`: the oldest above it, for catching up.
    """
    number = parse_id(conversation_id) or 0
    order = NEWEST_FIRST if after is None else OLDEST_FIRST
    # For a user who does not take part the watermark is NULL, and no id is above it. The limit is a literal:
    # a plan for any limit might read the whole conversation first. So it might if it joined before the limit.
    page_rows = (
        f"(SELECT * FROM {MESSAGE} m WHERE {NOT_DELETED} AND {BETWEEN} AND (m.id * -1) < -{_CLEARED}"
        f" {order} LIMIT {int(limit) + 1})"
    )
    fetched = rows(
        f"{select(_CLEARED, source=page_rows)} {order}",
        [*between(number, after or 0, before or MAX_ID), number, user_id, number, user_id],
    )
    if not fetched:
        watermark_for(user_id, number)
    page = fetched[:limit]
    if after is not None:
        page.reverse()
    return [row_of(columns) for columns in page], len(fetched) > limit


class SeenMessage(NamedTuple):
    message: MessageRow
    # Of the conversation, for the same participant.
    unread_count: int


def messages_for_each(viewer_ids: Iterable[int], ids: Iterable[int]) -> dict[tuple[int, int], SeenMessage]:
    """The messages of these ids as each of the viewers sees them now, by viewer and message, in one query.

    Deleted and cleared messages and those of other users are missing.
    """
    as_participant = f" JOIN {PARTICIPANT} p ON p.conversation_id = m.conversation_id AND {is_any('p.user_id')}"
    fetched = rows(
        f"{select('p.cleared_up_to_id', as_participant, before='p.user_id, p.unread_count, ')}"
        f" WHERE {is_any('m.id')} AND {visible('m', 'p.cleared_up_to_id')}",
        [as_parameter(set(viewer_ids)), as_parameter(set(ids))],
    )
    return {
        (viewer_id, columns[0]): SeenMessage(row_of(columns), unread_count)
        for viewer_id, unread_count, *columns in fetched
    }


def messages_for(viewer_id: int, ids: Iterable[int]) -> dict[int, MessageRow]:
    """The same for one viewer, by message."""
    return {message_id: seen.message for (_, message_id), seen in messages_for_each([viewer_id], ids).items()}


def reactions_of(message_id: int) -> Uses:
    """The reactions to a message, in order of use. The caller checks permissions."""
    return list(Reaction.objects.filter(message_id=message_id).order_by("id").values_list("user_id", "emoji"))


def message_image_is_visible(image: "Image", viewer_id: int | None, signed: bool) -> bool:
    """A participant may see the image of a message while the message is visible to them."""
    messages = Message.objects.not_deleted() if signed else Message.objects.visible_to(viewer_id)
    return messages.filter(image=image).exists()


def first_id_since(start: datetime) -> int:
    """The first id of the messages sent at `start` or later: a bisection of the primary key.

    The table has no index on `created_at`; ids grow with time.
    """
    low, high = 0, (Message.objects.aggregate(id=Max("id"))["id"] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = Message.objects.filter(id__gte=middle).order_by("id").values_list("id", "created_at").first()
        if row is None or row[1] >= start:
            high = middle
        else:
            low = row[0] + 1
    return low


SHOWN_ON_EACH_SIDE = 3


def messages_around(message: Message) -> list[Message]:
    """The message with the messages before and after it, oldest first, for staff."""
    conversation = Message.objects.filter(conversation_id=message.conversation_id).select_related("sender")
    before = conversation.filter(id__lt=message.id).order_by("-id")[:SHOWN_ON_EACH_SIDE]
    after = conversation.filter(id__gt=message.id).order_by("id")[:SHOWN_ON_EACH_SIDE]
    return [*reversed(before), message, *after]
